package org.udckpt.image.write;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.Range;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.table.RecordTable;

/**
 * Writes one node's share of a checkpoint: its processes' memory into stripe files, and tables about them.
 * Thread-safe.
 */
public final class NodeWriter implements Closeable {
    /**
     * Writers of all processes that write themselves, each with a stripe file: as many as processors, up to what feeds
     * a fast device.
     */
    private static final int SELF_WRITERS = Math.min(Runtime.getRuntime().availableProcessors(), 8);
    /**
     * Of files that are written past the page cache: while one writer waits for the device, another looks at its
     * memory.
     */
    private static final int DIRECT_SELF_WRITERS = 2 * SELF_WRITERS;
    /** Names of stripes have two digits. */
    private static final int MOST_STRIPES = 100;

    static final String LATENCY = "write-latency", PAGES = "page-counts";

    private final WriteTarget target;
    private final WriterOptions options;
    private final Manifest.Node node;
    private final PageHistory previous;
    private final List<Manifest.FileEntry> files = new ArrayList<>();
    private final Set<String> tables = new HashSet<>(Set.of(ImageNames.CHUNKS, ImageNames.BLOCKS, LATENCY, PAGES));
    private final Set<Integer> processes = new HashSet<>();
    private final SharedRanges shared = new SharedRanges();
    /** Rows of memory that was not read. */
    private final List<HashedChunk> carried = new ArrayList<>();
    private final List<CompletableFuture<MemoryResult>> results = new ArrayList<>();
    private final List<StripeFile> stripes = new ArrayList<>();
    private final WriteOutcome outcome = new WriteOutcome();
    /**
     * For what is read, and for what writes itself; each made with its own stripe files when the first source needs it.
     */
    private MemoryPipeline pipeline;
    private SelfWriter selfWriter;
    /** The first process could not write itself: no other is asked, and the pipeline has those stripe files. */
    private boolean declined;
    private int expected = 1;
    private long bytes;
    private long begin;
    private boolean finished;
    private Exception broken;

    /** @param previous what older checkpoints have; null: store everything */
    NodeWriter(WriteTarget target, Manifest.Node node, WriterOptions options, PageHistory previous) {
        this.target = target;
        this.node = node;
        this.options = options;
        this.previous = previous;
    }

    /**
     * How many calls of {@link #memory} with a {@link SelfWritingSource} there will be, for sharing out threads and
     * files.
     */
    public synchronized void expect(int processes) {
        expected = processes;
    }

    /**
     * Starts to write memory of a process, and returns at once.
     *
     * @param process any number that is unique in this node's share
     * @param ranges  in any order, not overlapping; a range is stored in pieces, zero pages by name only
     * @param source  read from other threads until the result is there
     * @return completes when all is in the stripe files (not yet durable), or fails with what went wrong in this
     *         or any other process of the node: then the checkpoint cannot be committed
     * @throws IllegalArgumentException for overlapping ranges or a process that was given before
     * @throws IOException              when the stripe files cannot be made
     */
    public CompletableFuture<MemoryResult> memory(int process, List<Range> ranges, PageSource source)
            throws IOException {
        return memory(process, ranges, source, Unchanged.NOTHING);
    }

    /** As {@link #memory(int, List, PageSource)}. @param unchanged what of it need not be read */
    public synchronized CompletableFuture<MemoryResult> memory(int process, List<Range> ranges, PageSource source,
            Unchanged unchanged) throws IOException {
        checkOpen();
        List<Range> sorted = ranges.stream().sorted(Comparator.comparingLong(Range::address)).toList();
        for (int i = 1; i < sorted.size(); i++) {
            if (sorted.get(i - 1).end() > sorted.get(i).address()) {
                throw new IllegalArgumentException(
                        "process " + process + ": " + sorted.get(i - 1) + " overlaps " + sorted.get(i));
            }
        }
        if (!processes.add(process)) {
            throw new IllegalArgumentException("process " + process + " was given twice");
        }
        long length = sorted.stream().mapToLong(Range::length).sum();
        bytes += length;
        options.meter().expect(length);
        CarriedMemory here = CarriedMemory.of(process, sorted, unchanged, previous);
        if (options.verify()) {
            UnchangedCheck.require(here.rows(), source);
        }
        carried.addAll(here.rows());
        long unread = here.bytes();
        options.meter().done(unread, 0);
        try {
            CompletableFuture<MemoryResult> result = here.rest().isEmpty() && unread > 0
                    ? CompletableFuture.completedFuture(new MemoryResult(process, unread, unread, 0, 0, 0, 0))
                    : submit(process, here.rest(), source).thenApply(read -> read.withUnread(unread));
            results.add(result);
            return result;
        } catch (IOException | RuntimeException e) {
            broken = e; // as a table that failed
            throw e;
        }
    }

    /**
     * Memory of a process that is not written, for it holds the same bytes as another one's.
     *
     * @param process whose {@link #memory} has none of these ranges
     * @param with    a process whose {@link #memory} has all of them
     * @param ranges  in any order, not overlapping
     */
    public synchronized void share(int process, int with, List<Range> ranges) {
        checkOpen();
        shared.add(process, with, ranges);
    }

    private CompletableFuture<MemoryResult> submit(int process, List<Range> ranges, PageSource source)
            throws IOException {
        begin = begin == 0 ? System.nanoTime() : begin;
        if (source instanceof SelfWritingSource self && storedAsItIs() && !declined) {
            selfWriter = selfWriter == null ? new SelfWriter(node.index(), options, selfWritersStripes(), outcome)
                    : selfWriter;
            int writers = selfWriter.writers(expected);
            if (selfWriter.takes(self, writers)) {
                return selfWriter.submit(new SelfWrittenMemory(process, ranges, self, options.form(), target.tags(),
                        previousPages(process), writers));
            }
            declined = !selfWriter.used();
        }
        if (pipeline == null) {
            pipeline = new MemoryPipeline(node.index(), options, declined ? List.copyOf(stripes)
                    : newStripes(Math.min(options.stripes(), MOST_STRIPES - stripes.size())), target::sealer, outcome);
        }
        return pipeline.submit(new MemoryJob(process, ranges, source, previousPages(process)));
    }

    /** Whether memory is stored as it is, without what only a packer does. */
    private boolean storedAsItIs() {
        return options.form().zstdLevel() == 0 && target.cipher() == null;
    }

    private ProcessPages previousPages(int process) {
        return previous == null ? null : previous.pages(process);
    }

    private List<StripeFile> selfWritersStripes() throws IOException {
        int first = stripes.size();
        boolean direct = newStripes(1).getFirst().output().direct(); // not every file system can
        newStripes(Math.max(options.stripes(), direct ? DIRECT_SELF_WRITERS : SELF_WRITERS) - 1);
        return List.copyOf(stripes.subList(first, stripes.size()));
    }

    private List<StripeFile> newStripes(int count) throws IOException {
        int first = stripes.size();
        for (int i = first; i < first + count; i++) {
            Path file = target.directory().resolve(ImageNames.stripe(node.index(), i));
            stripes.add(new StripeFile(i, file, target.storage().create(file, options.direct()),
                    new StripeLog(target.id()), options.courtesy().rate()));
        }
        return List.copyOf(stripes.subList(first, stripes.size()));
    }

    /**
     * Writes a table of this node; see {@link RecordTable} for what a record may hold.
     *
     * @param name a-z, 0-9 and -, each once; "chunks", "blocks", "write-latency" and "page-counts" are taken
     */
    public synchronized <T> void table(String name, Class<T> type, List<? extends T> rows) throws IOException {
        table(name, RecordTable.of(type), rows);
    }

    /** As {@link #table(String, Class, List)}, of rows that a list of records decides about. */
    public synchronized <T> void table(String name, RecordTable<T> table, List<? extends T> rows) throws IOException {
        byte[] encoded;
        try {
            encoded = table.encode(rows);
        } catch (RuntimeException e) {
            broken = e;
            throw e;
        }
        table(name, encoded);
    }

    /** The same of a table that was encoded before ({@link RecordTable#encode}). */
    public synchronized void table(String name, byte[] encoded) throws IOException {
        checkOpen();
        String file = ImageNames.nodeTable(node.index(), name);
        if (!tables.add(name)) {
            throw new IllegalArgumentException("table '" + name + "' was written before, or is the image's own");
        }
        try {
            files.add(target.table(file, encoded));
        } catch (IOException | RuntimeException e) {
            // Whoever catches this must not be able to commit without the table.
            broken = e;
            throw e;
        }
    }

    /** Waits for all memory, makes the stripe files durable and writes the tables about them. */
    synchronized NodePart finish() throws IOException {
        checkOpen();
        finished = true;
        if (broken != null) {
            throw asIoException(broken);
        }
        long nanos = 0;
        List<HashedChunk> chunks = List.of();
        if (!stripes.isEmpty() || !carried.isEmpty()) {
            awaitMemory();
            closeWriters();
            for (StripeFile stripe : stripes) {
                files.add(stripe.finish(target.tableName(ImageNames.nodeTable(node.index(), ImageNames.BLOCKS))));
                options.meter().finished(stripe.latencies());
            }
            nanos = System.nanoTime() - begin;
            List<StripeLog> logs = stripes.stream().map(StripeFile::log).toList();
            chunks = shared.with(StripeLog.chunks(logs, carried));
            files.add(target.table(ImageNames.nodeTable(node.index(), ImageNames.CHUNKS), Chunk.class,
                    chunks.stream().map(HashedChunk::chunk).toList()));
            List<Block> blocks = StripeLog.blocks(logs);
            files.add(target.table(ImageNames.nodeTable(node.index(), ImageNames.BLOCKS), Block.class, blocks));
            WrittenPages pages = WrittenPages.of(results.stream().map(CompletableFuture::join).toList(), blocks);
            files.add(target.table(ImageNames.nodeTable(node.index(), PAGES), WrittenPages.class, List.of(pages)));
            files.add(target.table(ImageNames.nodeTable(node.index(), LATENCY), WriteLatency.class,
                    stripes.stream().map(StripeFile::latency).toList()));
        }
        return new NodePart(node, List.copyOf(files), bytes, nanos, chunks);
    }

    /**
     * Returns when all memory that was given is in the stripe files, and its sources are read no more.
     *
     * @throws IOException the first failure
     */
    public synchronized void awaitMemory() throws IOException {
        if (stripes.isEmpty()) {
            return;
        }
        outcome.await();
        if (outcome.failed()) {
            throw asIoException(outcome.failure());
        }
    }

    private void closeWriters() {
        if (selfWriter != null) {
            selfWriter.close();
        }
        if (pipeline != null) {
            pipeline.close();
        }
    }

    private IOException asIoException(Throwable failure) {
        return failure instanceof IOException io ? io
                : new IOException("node " + node.index() + " (" + node.host() + "): could not be written: " + failure,
                        failure);
    }

    private void checkOpen() {
        if (finished) {
            throw new IllegalStateException("node " + node.index() + ": its checkpoint is being committed, or was "
                    + "abandoned");
        }
    }

    /** Stops what is still going on; files stay for the checkpoint's writer to remove. */
    @Override
    public synchronized void close() throws IOException {
        finished = true;
        closeWriters();
        IOException first = null;
        for (StripeFile stripe : stripes) {
            try {
                stripe.close();
            } catch (IOException e) {
                first = first == null ? e : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
