package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.MemoryReader;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.MemoryResult;
import org.udckpt.image.write.NodeWriter;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.image.write.WriteLatency;
import org.udckpt.image.write.WriterOptions;

@Timeout(180)
class RoundTripTest {
    @TempDir
    Path temp;

    @Test
    void randomMemoryComesBack() throws Exception {
        Random random = new Random(Images.seed("RoundTripTest"));
        for (int i = 0; i < 24; i++) {
            List<FakeProcess> processes = Images.processes(random, 1 + random.nextInt(4));
            WriterOptions options = Images.randomOptions(random);
            Manifest manifest = Images.write(temp.resolve("c"), options, processes);
            Path checkpoint = temp.resolve("c").resolve(ImageNames.directory(manifest.id()));
            assertEquals(processes.stream().mapToLong(FakeProcess::bytes).sum(), manifest.bytes());
            Images.assertHolds(checkpoint, processes);
            try (CheckpointReader reader = CheckpointReader.open(checkpoint, Images.SECRET_KEY)) {
                long[] last = new long[1];
                reader.verify((done, total) -> {
                    assertTrue(done > last[0] && done <= total, done + " of " + total);
                    last[0] = done;
                });
                assertEquals(manifest.storedBytes(), last[0]);
            }
        }
    }

    @Test
    void moreThanTheBuffersHoldComesBack() throws Exception {
        Random random = new Random(Images.seed("RoundTripTest.large"));
        List<FakeProcess> processes = List.of(new FakeProcess(1, random, 4, 4000), new FakeProcess(2, random, 4, 4000),
                new FakeProcess(3, random, 900, 2));
        Manifest manifest = Images.write(temp.resolve("c"), Images.options(), processes);
        assertTrue(manifest.bytes() > 4 << 20, "does not exceed the buffers");
        Images.assertHolds(temp.resolve("c/ckpt-0001"), processes);
    }

    @Test
    void zeroPagesAreNotStored() throws Exception {
        byte[] memory = new byte[64 * Range.PAGE];
        memory[0] = 1;
        memory[3 * Range.PAGE + 5] = 1;
        memory[63 * Range.PAGE + 4095] = 1;
        FakeProcess process = new FakeProcess(7, new Random(1), 1, 1);
        process.memory.clear();
        process.memory.put(0x10000L, memory);
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.options().withStripes(1))) {
            MemoryResult result = writer.node(0, "a").memory(7, process.ranges(), process).get();
            // Pages 0 to 3 (the hole of two is too small to leave out) and page 63.
            assertEquals(5 * Range.PAGE, result.storedBytes());
            assertEquals(59 * Range.PAGE, result.zeroBytes());
            writer.commit(Images.INFO);
        }
        assertEquals(5 * Range.PAGE, Files.size(temp.resolve("c/ckpt-0001/node-0000.stripe-00")));
        try (CheckpointReader reader = CheckpointReader.open(temp.resolve("c/ckpt-0001"), Images.KEY)) {
            MemoryReader memoryReader = reader.memory(7);
            assertEquals(List.of(Chunk.Kind.DATA, Chunk.Kind.ZERO, Chunk.Kind.DATA),
                    memoryReader.chunks().stream().map(Chunk::kind).toList());
            assertEquals(List.of(new Range(0x10000, memory.length)), memoryReader.ranges());
            process.assertEqualTo(memoryReader);
            byte[] part = new byte[5000];
            memoryReader.read(0x10000 + 3 * Range.PAGE - 1, MemorySegment.ofArray(part));
            assertEquals(1, part[6]);
            assertThrows(IllegalArgumentException.class,
                    () -> memoryReader.read(0x10000 + memory.length - 1, MemorySegment.ofArray(part)));
        }
    }

    @Test
    void tablesStatisticsAndManifestComeBack() throws Exception {
        List<FakeProcess> processes = Images.processes(new Random(1), 2);
        Manifest written = Images.write(temp.resolve("c"), Images.options(), processes);
        try (CheckpointReader reader = CheckpointReader.open(temp.resolve("c/ckpt-0001"), Images.KEY)) {
            assertEquals(written, reader.manifest());
            assertEquals(Map.copyOf(Images.INFO.labels()), Map.copyOf(reader.manifest().labels()));
            assertEquals(15, written.stopMaxNanos());
            assertEquals(3, written.stopMedianNanos());
            assertEquals(List.of(new Images.Named(1, "one"), new Images.Named(2, null)),
                    reader.table("names", Images.Named.class));
            assertEquals(List.of(new Images.Named(3, "three")), reader.table("job", Images.Named.class));
            assertThrows(ImageError.Missing.class, () -> reader.table("none", Images.Named.class));
            List<PhaseTime> phases = reader.table("phases", PhaseTime.class);
            assertEquals(List.of(Phase.WRITE, Phase.COMMIT),
                    phases.stream().filter(p -> p.rank() == PhaseTime.JOB).map(PhaseTime::phase).toList());
            assertEquals(Map.of(0, List.of(100, 101)), reader.processes());
            for (WriteLatency latency : reader.table(0, "write-latency", WriteLatency.class)) {
                Histogram histogram = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(latency.histogram()), 0);
                assertEquals(latency.writes(), histogram.getTotalCount());
            }
        }
    }

    @Test
    void onlyTheOwnerCanReadAnImage() throws Exception {
        Images.write(temp.resolve("c"), Images.options(), Images.processes(new Random(2), 1));
        assertEquals("rwx------",
                PosixFilePermissions.toString(Files.getPosixFilePermissions(temp.resolve("c/ckpt-0001"))));
        try (var files = Files.list(temp.resolve("c/ckpt-0001"))) {
            for (Path file : files.toList()) {
                assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)),
                        file.toString());
            }
        }
    }

    @Test
    void aFailingSourceFailsTheCheckpointAndLeavesNothing() throws Exception {
        FakeProcess good = new FakeProcess(1, new Random(3), 20, 100);
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.options())) {
            NodeWriter node = writer.node(0, "a");
            node.memory(1, good.ranges(), good);
            var bad = node.memory(2, List.of(new Range(0x1000, 8 << 20)), (address, into) -> {
                if (address > 0x300000) {
                    throw new IOException("process 2 is gone");
                }
                return into.byteSize();
            });
            assertEquals("process 2 is gone", assertThrows(ExecutionException.class, bad::get).getCause().getMessage());
            assertEquals("process 2 is gone",
                    assertThrows(IOException.class, () -> writer.commit(Images.INFO)).getMessage());
            assertThrows(IllegalStateException.class, () -> writer.commit(Images.INFO));
        }
        assertEquals(List.of(), new Catalogue(temp.resolve("c"), Images.KEY).list());
    }

    @Test
    void aShortReadIsAFailure() throws Exception {
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.options())) {
            var result = writer.node(0, "a").memory(5, List.of(new Range(0x1000, 0x2000)), (address, into) -> 0x1000);
            String message = assertThrows(ExecutionException.class, result::get).getCause().getMessage();
            assertEquals("process 5: 4096 of 8192 bytes at 0x1000 could be read", message);
        }
    }

    @Test
    void closingInTheMiddleStopsAndRemoves() throws Exception {
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.options())) {
            writer.node(0, "a").memory(5, List.of(new Range(0, 1L << 40)), (address, into) -> into.byteSize());
        }
        assertEquals(List.of(), new Catalogue(temp.resolve("c"), Images.KEY).list());
    }

    @Test
    void wrongUseIsRefused() throws Exception {
        assertThrows(IllegalArgumentException.class, () -> new Range(0x1001, 0x1000));
        assertThrows(IllegalArgumentException.class, () -> new Range(0x1000, 0));
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.options())) {
            NodeWriter node = writer.node(0, "a");
            assertThrows(IllegalArgumentException.class, () -> writer.node(0, "b"));
            assertThrows(IllegalArgumentException.class, () -> node.table("chunks", Images.Named.class, List.of()));
            assertThrows(IllegalArgumentException.class, () -> node.table("../x", Images.Named.class, List.of()));
            assertThrows(IllegalArgumentException.class, () -> node.memory(1,
                    List.of(new Range(0x2000, 0x2000), new Range(0x1000, 0x2000)), (address, into) -> into.byteSize()));
        }
    }

    @Test
    void aTableThatFailedIsNotLeftOut() throws Exception {
        List<Images.Named> bad = List.of(new Images.Named(1, "\uD800"));
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.options())) {
            NodeWriter node = writer.node(0, "a");
            assertThrows(IllegalArgumentException.class, () -> node.table("names", Images.Named.class, bad));
            assertThrows(IOException.class, () -> writer.commit(Images.INFO));
        }
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.options())) {
            assertThrows(IllegalArgumentException.class, () -> writer.table("names", Images.Named.class, bad));
            assertThrows(IllegalStateException.class, () -> writer.commit(Images.INFO));
        }
        assertEquals(List.of(), new Catalogue(temp.resolve("c"), Images.KEY).list());
    }

    @Test
    void nothingIsTakenOnceTheCheckpointIsCommitted() throws Exception {
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.options())) {
            NodeWriter node = writer.node(0, "a");
            writer.commit(Images.INFO);
            assertThrows(IllegalStateException.class, () -> node.table("names", Images.Named.class, List.of()));
            assertThrows(IllegalStateException.class,
                    () -> node.memory(1, List.of(new Range(0, 4096)), (address, into) -> 4096));
            assertThrows(IllegalStateException.class, () -> writer.commit(Images.INFO));
        }
    }
}
