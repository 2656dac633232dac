package org.udckpt.image.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.ImageError;
import org.udckpt.image.Images;
import org.udckpt.image.Manifest;
import org.udckpt.image.block.Hashes;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.linux.LinuxError;

/** Processes that write themselves, processes that are read, and both: what comes back is the same. */
@Timeout(180)
class SelfWritingTest {
    private static final int ENOSPC = 28, EIO = 5;

    @TempDir
    Path temp;

    /** A {@link FakeProcess} that appends to the stripe files itself, as a snapshot does. */
    private static final class Writing implements SelfWritingSource {
        private final FakeProcess process;
        private final boolean able;
        private int errnoAfter;
        private int errno;
        private boolean tears;
        private boolean failed;
        private List<Integer> files;
        private int readings;

        Writing(FakeProcess process, boolean able) {
            this.process = process;
            this.able = able;
        }

        @Override
        public synchronized long read(long address, MemorySegment into) throws IOException {
            readings++;
            return process.read(address, into);
        }

        @Override
        public boolean ready(List<Integer> stripes, boolean direct, boolean background, int writers) {
            files = stripes;
            return able;
        }

        private synchronized boolean failsNow() {
            boolean now = errno != 0 && errnoAfter-- == 0;
            failed |= now;
            return now;
        }

        private MemorySegment gather(Arena arena, long[] runs, int count) throws IOException {
            long bytes = 0;
            for (int i = 0; i < count; i += 2) {
                bytes += runs[i + 1];
            }
            MemorySegment all = arena.allocate(bytes);
            long at = 0;
            for (int i = 0; i < count; i += 2) {
                for (long page = 0; page < runs[i + 1]; page += 4096) { // a run may go on in the next range
                    process.read(runs[i] + page, all.asSlice(at, 4096));
                    at += 4096;
                }
            }
            return all;
        }

        @Override
        public void look(int writer, long[] runs, int count, BitSet zeros, long[] hashes) throws IOException {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment all = gather(arena, runs, count);
                assertTrue(all.byteSize() <= 1 << 20, "more than a block");
                zeros.clear();
                for (int page = 0; page < all.byteSize() / 4096; page++) {
                    zeros.set(page,
                            all.asSlice(page * 4096L, 4096).mismatch(MemorySegment.ofArray(new byte[4096])) < 0);
                }
                if (hashes != null) {
                    Hashes.best().xxh3Pages(all, (int) (all.byteSize() / 4096), hashes);
                }
            }
        }

        @Override
        public long append(int writer, long[] runs, int count, AppendOrder order) throws IOException {
            if (order.zeros() != null) {
                look(writer, runs, count, order.zeros(), null);
                if (!order.zeros().isEmpty()) {
                    return 0;
                }
            }
            boolean fails = failsNow();
            if (fails && !tears) {
                throw new IOException("append", new LinuxError("append", errno));
            }
            try (Arena arena = Arena.ofConfined(); FileChannel channel = FileChannel
                    .open(Path.of("/proc/self/fd", files.get(order.file()).toString()), StandardOpenOption.WRITE)) {
                MemorySegment all = gather(arena, runs, count);
                assertEquals(order.offset(), channel.size(), "it goes to the end of the file");
                if (fails) {
                    channel.write(all.asSlice(0, all.byteSize() / 2).asByteBuffer(), order.offset());
                    throw new IOException("append", new LinuxError("append", errno));
                }
                assertEquals(all.byteSize(), channel.write(all.asByteBuffer(), order.offset()));
                if (order.digest() != null) {
                    System.arraycopy(Hashes.best().sha256(all, (int) all.byteSize()), 0, order.digest(), 0,
                            order.digest().length);
                }
                if (order.key() != null) {
                    tag(all.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE), order);
                }
                return Hashes.best().xxh3(all, (int) all.byteSize());
            }
        }
    }

    private static void tag(byte[] bytes, AppendOrder order) throws IOException {
        try {
            javax.crypto.Cipher gmac = javax.crypto.Cipher.getInstance("AES/GCM/NoPadding");
            gmac.init(javax.crypto.Cipher.ENCRYPT_MODE, new javax.crypto.spec.SecretKeySpec(order.key(), "AES"),
                    new javax.crypto.spec.GCMParameterSpec(128, order.seal(), 0, 12));
            gmac.updateAAD(bytes);
            gmac.doFinal(order.seal(), 12);
        } catch (java.security.GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    private static WriterOptions options(Random random) {
        Manifest.Integrity integrity = Manifest.Integrity.values()[random.nextInt(3)];
        return Images.options().withStripes(1 + random.nextInt(3)).withForm(new ImageForm(integrity, 0, false));
    }

    private Manifest write(Path parent, WriterOptions options, List<? extends PageSource> sources,
            List<FakeProcess> processes) throws IOException {
        return write(parent, options, sources, processes, sources.size());
    }

    private Manifest write(Path parent, WriterOptions options, List<? extends PageSource> sources,
            List<FakeProcess> processes, int expect) throws IOException {
        try (CheckpointWriter writer = CheckpointWriter.create(parent, options)) {
            NodeWriter node = writer.node(0, "host");
            node.expect(expect);
            for (int i = 0; i < sources.size(); i++) {
                node.memory(processes.get(i).id, processes.get(i).ranges(), sources.get(i));
            }
            return writer.commit(Images.INFO);
        }
    }

    @Test
    void whatIsWrittenByItselfComesBackWhoeverElseIsRead() throws Exception {
        Random random = new Random(Images.seed("SelfWritingTest"));
        for (int i = 0; i < 24; i++) {
            List<FakeProcess> processes = Images.processes(random, 1 + random.nextInt(5));
            List<PageSource> sources = new ArrayList<>();
            processes.forEach(process -> sources.add(switch (random.nextInt(4)) {
                case 0 -> process;
                case 1 -> new Writing(process, false);
                default -> new Writing(process, true);
            }));
            Manifest manifest =
                    write(temp.resolve("c"), options(random), sources, processes, 1 + random.nextInt(processes.size()));
            assertEquals(processes.stream().mapToLong(FakeProcess::bytes).sum(), manifest.bytes());
            Path checkpoint = temp.resolve("c").resolve("ckpt-%04d".formatted(manifest.id()));
            Images.assertHolds(checkpoint, processes);
            try (CheckpointReader reader = CheckpointReader.open(checkpoint, Images.KEY)) {
                reader.verify((done, total) -> {});
            }
        }
    }

    @Test
    void itIsTheSameImageAsThatOfAReadProcess() throws Exception {
        Random random = new Random(Images.seed("SelfWritingTest.same"));
        FakeProcess process = new FakeProcess(1, random, 20, 900);
        WriterOptions options = Images.options().withStripes(1);
        int manyOthers = 100; // so that it has one writer
        Writing writing = new Writing(process, true);
        write(temp.resolve("self"), options, List.of(writing), List.of(process), manyOthers);
        write(temp.resolve("read"), options, List.of(process), List.of(process));
        assertEquals(0, writing.readings);
        assertEquals(-1, java.nio.file.Files.mismatch(temp.resolve("read/ckpt-0001/node-0000.stripe-00"),
                temp.resolve("self/ckpt-0001/node-0000.stripe-00")));
    }

    @Tag("slow")
    @Test
    void aChainMayBeWrittenEitherWay() throws Exception {
        Random random = new Random(Images.seed("SelfWritingTest.chain"));
        for (int chain = 0; chain < 6; chain++) {
            WriterOptions any = options(random);
            WriterOptions how = any.withForm(any.form().withIncremental(true));
            List<FakeProcess> processes = Images.processes(random, 3);
            History history = null;
            for (int i = 0; i < 5; i++) {
                try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("chain"), how, history)) {
                    NodeWriter node = writer.node(0, "host");
                    node.expect(1 + random.nextInt(3));
                    List<CompletableFuture<MemoryResult>> results = new ArrayList<>();
                    for (FakeProcess process : processes) {
                        results.add(node.memory(process.id, process.ranges(),
                                random.nextInt(4) == 0 ? process : new Writing(process, true)));
                    }
                    Manifest manifest = writer.commit(Images.INFO);
                    history = writer.history();
                    assertEquals(i == 0, manifest.bases().isEmpty(), manifest.bases().toString());
                    assertEquals(i == 0, results.stream().mapToLong(result -> result.join().sameBytes()).sum() == 0);
                    Path checkpoint = temp.resolve("chain").resolve("ckpt-%04d".formatted(manifest.id()));
                    Images.assertHolds(checkpoint, processes);
                    try (CheckpointReader reader = CheckpointReader.open(checkpoint, Images.KEY)) {
                        reader.verify((done, total) -> {});
                    }
                }
                processes.forEach(process -> process.goOn(random));
            }
        }
    }

    @Test
    void whatMustBePackedIsRead() throws Exception {
        Random random = new Random(Images.seed("SelfWritingTest.packed"));
        for (WriterOptions options : List
                .of(Images.options().withForm(new ImageForm(Manifest.Integrity.XXH3, 1, false)), Images.encrypted())) {
            FakeProcess process = new FakeProcess(1, random, 20, 30);
            Writing writing = new Writing(process, true);
            Manifest manifest = write(temp.resolve("c"), options, List.of(writing), List.of(process));
            assertTrue(writing.readings > 0 && writing.files == null,
                    "it wrote by itself what has to be compressed or encrypted");
            Images.assertHolds(temp.resolve("c").resolve("ckpt-%04d".formatted(manifest.id())), List.of(process));
        }
    }

    @Test
    void anErrorOfTheFileSystemNamesTheFileAndEndsTheCheckpoint() throws Exception {
        Random random = new Random(Images.seed("SelfWritingTest.errors"));
        List<FakeProcess> good = Images.processes(random, 2);
        write(temp.resolve("c"), Images.options(), good.stream().map(process -> new Writing(process, true)).toList(),
                good);
        for (int errno : new int[]{ENOSPC, EIO}) {
            List<FakeProcess> processes =
                    List.of(new FakeProcess(1, random, 3, 900), new FakeProcess(2, random, 3, 900));
            Writing failing = new Writing(processes.get(1), true);
            failing.errno = errno;
            failing.errnoAfter = random.nextInt(2);
            List<Writing> sources = List.of(new Writing(processes.get(0), true), failing);
            IOException error = assertThrows(IOException.class,
                    () -> write(temp.resolve("c"), Images.options(), sources, processes));
            assertTrue(error.getMessage().contains("node-0000.stripe-"), error.getMessage());
            assertEquals(errno == ENOSPC, error instanceof ImageError.NoSpace, error.toString());
            if (errno == ENOSPC) {
                assertInstanceOf(ImageError.NoSpace.class, error);
            } else {
                assertFalse(error instanceof ImageError, error.toString());
            }
            assertEquals(List.of(1L),
                    new Catalogue(temp.resolve("c"), Images.KEY).list().stream().map(Catalogue.Entry::id).toList());
        }
    }

    /**
     * Each of a snapshot's appends fails in turn, and leaves half of it behind in turn: what was there stays, and
     * nothing else.
     */
    @Tag("slow")
    @Test
    void whicheverOfItsAppendsFailsTheOldCheckpointStays() throws Exception {
        Random random = new Random(Images.seed("SelfWritingTest.every"));
        List<FakeProcess> good = Images.processes(random, 2);
        Path parent = temp.resolve("c");
        write(parent, Images.options(), good.stream().map(process -> new Writing(process, true)).toList(), good);
        List<FakeProcess> processes = List.of(new FakeProcess(1, random, 9, 900), new FakeProcess(2, random, 9, 900));
        for (boolean tears : new boolean[]{false, true}) {
            int appends = 0;
            for (boolean failed = true; failed; appends += failed ? 1 : 0) {
                Writing failing = new Writing(processes.get(1), true);
                failing.errno = EIO;
                failing.errnoAfter = appends;
                failing.tears = tears;
                IOException error = null;
                try {
                    write(parent, Images.options(), List.of(new Writing(processes.get(0), true), failing), processes);
                } catch (IOException e) {
                    error = e;
                }
                failed = failing.failed;
                assertEquals(failed, error != null, "append " + appends + " went unnoticed, or nothing did");
                if (failed) {
                    assertTrue(error.getMessage().contains("node-0000.stripe-"), error.getMessage());
                    assertEquals(List.of(1L),
                            new Catalogue(parent, Images.KEY).list().stream().map(Catalogue.Entry::id).toList());
                    Images.assertHolds(parent.resolve("ckpt-0001"), good);
                }
            }
            assertTrue(appends > 5, appends + " appends only");
            Catalogue.Entry last = new Catalogue(parent, Images.KEY).list().getLast();
            Images.assertHolds(last.directory(), processes);
            removeAll(last.directory());
        }
    }

    private static void removeAll(Path directory) throws IOException {
        try (var files = java.nio.file.Files.list(directory)) {
            for (Path file : files.toList()) {
                java.nio.file.Files.delete(file);
            }
        }
        java.nio.file.Files.delete(directory);
    }

    @Test
    void whatWritesBesideTheStripeIsFoundOut() throws Exception {
        FakeProcess process = new FakeProcess(1, new Random(Images.seed("SelfWritingTest.torn")), 3, 40);
        Writing torn = new Writing(process, true);
        SelfWritingSource nowhere = new SelfWritingSource() {
            @Override
            public boolean ready(List<Integer> files, boolean direct, boolean background, int writers) {
                return torn.ready(files, direct, background, writers);
            }

            @Override
            public void look(int writer, long[] runs, int count, BitSet zeros, long[] hashes) throws IOException {
                torn.look(writer, runs, count, zeros, hashes);
            }

            @Override
            public long append(int writer, long[] runs, int count, AppendOrder order) {
                return 0; // says that it did
            }

            @Override
            public long read(long address, MemorySegment into) throws IOException {
                return torn.read(address, into);
            }
        };
        IOException error = assertThrows(IOException.class,
                () -> write(temp.resolve("c"), Images.options(), List.of(nowhere), List.of(process)));
        assertTrue(error.getMessage().contains("bytes long after"), error.getMessage());
    }
}
