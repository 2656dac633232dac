package org.udckpt.image;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Writes one node's share of a checkpoint: its processes' memory into stripe files, and tables about them.
 * Thread-safe.
 */
public final class NodeWriter implements Closeable {
    static final String CHUNKS = "chunks";
    static final String LATENCY = "write-latency";

    private final Path directory;
    private final WriterOptions options;
    private final Manifest.Node node;
    private final List<Manifest.FileEntry> files = new ArrayList<>();
    private final Set<String> tables = new HashSet<>(Set.of(CHUNKS, LATENCY));
    private final Set<Integer> processes = new HashSet<>();
    private final List<StripeWriter> stripes = new ArrayList<>();
    private MemoryPipeline pipeline;
    private long bytes;
    private long begin;
    private boolean finished;
    private Exception broken;

    NodeWriter(Path directory, Manifest.Node node, WriterOptions options) {
        this.directory = directory;
        this.node = node;
        this.options = options;
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
    public synchronized CompletableFuture<MemoryResult> memory(int process, List<Range> ranges, PageSource source)
            throws IOException {
        checkOpen();
        List<Range> sorted = ranges.stream().sorted(Comparator.comparingLong(Range::address)).toList();
        for (int i = 1; i < sorted.size(); i++) {
            if (sorted.get(i - 1).end() > sorted.get(i).address()) {
                throw new IllegalArgumentException("process " + process + ": " + sorted.get(i - 1) + " overlaps " + sorted.get(i));
            }
        }
        if (!processes.add(process)) {
            throw new IllegalArgumentException("process " + process + " was given twice");
        }
        if (pipeline == null) {
            start();
        }
        long length = sorted.stream().mapToLong(Range::length).sum();
        bytes += length;
        options.meter().expect(length);
        return pipeline.submit(new MemoryJob(process, sorted, source));
    }

    private void start() throws IOException {
        begin = System.nanoTime();
        for (int i = 0; i < options.stripes(); i++) {
            Path file = directory.resolve(ImageNames.stripe(node.index(), i));
            stripes.add(new StripeWriter(i, file, options.storage().create(file, options.direct()), options.integrity(), options.courtesy().rate()));
        }
        pipeline = new MemoryPipeline(node.index(), options, stripes);
    }

    /**
     * Writes a table of this node; see {@link RecordTable} for what a record may hold.
     *
     * @param name a-z, 0-9 and -, each once; "chunks" and "write-latency" are taken
     */
    public synchronized <T> void table(String name, Class<T> type, List<? extends T> rows) throws IOException {
        checkOpen();
        String file = ImageNames.nodeTable(node.index(), name);
        if (!tables.add(name)) {
            throw new IllegalArgumentException("table '" + name + "' was written before, or is the image's own");
        }
        try {
            files.add(writeTable(directory.resolve(file), type, rows, options.storage()));
        } catch (IOException | RuntimeException e) {
            // Whoever catches this must not be able to commit without the table.
            broken = e;
            throw e;
        }
    }

    static <T> Manifest.FileEntry writeTable(Path file, Class<T> type, List<? extends T> rows, StorageIo io) throws IOException {
        byte[] content = RecordTable.of(type).encode(rows);
        SmallFiles.write(io, file, content);
        return Manifest.FileEntry.table(file.getFileName().toString(), content.length,
                java.util.HexFormat.of().formatHex(ImageKey.sha256(content)));
    }

    /** Waits for all memory, makes the stripe files durable and writes the tables about them. */
    synchronized NodePart finish() throws IOException {
        checkOpen();
        finished = true;
        if (broken != null) {
            throw asIoException(broken);
        }
        long nanos = 0;
        if (pipeline != null) {
            pipeline.await();
            if (pipeline.failure() != null) {
                throw asIoException(pipeline.failure());
            }
            pipeline.close();
            String chunks = ImageNames.nodeTable(node.index(), CHUNKS);
            for (StripeWriter stripe : stripes) {
                files.add(stripe.finish(chunks));
                options.meter().finished(stripe.latencies());
            }
            nanos = System.nanoTime() - begin;
            files.add(writeTable(directory.resolve(chunks), Chunk.class,
                    ChunkLog.merge(stripes.stream().map(StripeWriter::log).toList()), options.storage()));
            files.add(writeTable(directory.resolve(ImageNames.nodeTable(node.index(), LATENCY)), WriteLatency.class,
                    stripes.stream().map(StripeWriter::latency).toList(), options.storage()));
        }
        return new NodePart(node, List.copyOf(files), bytes, nanos);
    }

    private IOException asIoException(Throwable failure) {
        return failure instanceof IOException io ? io
                : new IOException("node " + node.index() + " (" + node.host() + "): could not be written: " + failure, failure);
    }

    private void checkOpen() {
        if (finished) {
            throw new IllegalStateException("node " + node.index() + ": its checkpoint is being committed, or is given up");
        }
    }

    /** Stops what is still going on; files stay for the checkpoint's writer to remove. */
    @Override
    public synchronized void close() throws IOException {
        finished = true;
        if (pipeline != null) {
            pipeline.close();
        }
        IOException first = null;
        for (StripeWriter stripe : stripes) {
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
