package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.History;
import org.udckpt.image.write.ImageForm;
import org.udckpt.image.write.NodeWriter;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.image.write.WriterOptions;

/**
 * Images as each version of the format was first written, kept in the resources: whatever changes, they must stay
 * readable, or the format's version must. {@link #main} makes those of the present version: a whole one, one that holds
 * what changed since, compressed, an encrypted one, and one with digests.
 */
@Timeout(90)
class GoldenImageTest {
    record Everything(int i, long l, boolean b, String s, byte[] bytes, int[] ints, long[] longs, Phase phase) {}

    sealed interface Thing {
        record Pipe(long id, byte[] content) implements Thing {}

        record Counter(long id, int value) implements Thing {}
    }

    private static final List<Thing> THINGS = List.of(new Thing.Counter(1, 42), new Thing.Counter(2, -1));
    @TempDir
    Path temp;

    /** The directory name is part of what is sealed. */
    private Path golden(int version, int checkpoint) throws Exception {
        for (int id = 1; id <= checkpoint; id++) {
            Path copy = Files.createDirectory(temp.resolve(ImageNames.directory(id)));
            var manifest = GoldenImageTest.class
                    .getResource("/golden-v" + version + "/" + ImageNames.directory(id) + "/manifest");
            assertNotNull(manifest, "the golden image is not among the resources");
            try (var files = Files.list(Path.of(manifest.toURI()).getParent())) {
                for (Path file : files.toList()) {
                    Files.copy(file, copy.resolve(file.getFileName()));
                }
            }
        }
        return temp.resolve(ImageNames.directory(checkpoint));
    }

    @ParameterizedTest(name = "version {0}, checkpoint {1}")
    @CsvSource({"1, 1", "2, 1", "2, 2", "2, 3", "3, 1", "3, 2", "3, 3", "3, 4", "4, 1", "4, 2"})
    void everyVersionIsStillRead(int version, int checkpoint) throws Exception {
        try (CheckpointReader reader = CheckpointReader.open(golden(version, checkpoint), Images.SECRET_KEY)) {
            reader.verify((_, _) -> {});
            Manifest manifest = reader.manifest();
            assertEquals(version, manifest.version());
            assertEquals(checkpoint == 2, !manifest.bases().isEmpty());
            assertEquals(checkpoint == 3, manifest.encryption() != null);
            assertEquals(Instant.parse("2026-11-21T00:00:00Z"), manifest.takenAt());
            assertEquals(Map.of("job", "golden"), Map.copyOf(manifest.labels()));
            assertEquals(List.of(new Manifest.Node(0, "host a"), new Manifest.Node(1, "host b")), manifest.nodes());
            assertEquals(3, manifest.stopMaxNanos());
            Everything row = reader.table("everything", Everything.class).getFirst();
            assertEquals("1 -2 true \u00fc RESUME", row.i + " " + row.l + " " + row.b + " " + row.s + " " + row.phase);
            assertArrayEquals(new byte[]{1, 2}, row.bytes);
            assertArrayEquals(new int[]{3}, row.ints);
            assertArrayEquals(new long[]{4, 5}, row.longs);
            assertEquals(THINGS, reader.table("things", Thing.class));
            for (int node = 0; node < 2; node++) {
                byte[] memory = new byte[8 * Range.PAGE];
                reader.memory(node, 10).read(0x7000, MemorySegment.ofArray(memory));
                assertArrayEquals(memory(node, checkpoint), memory);
            }
        }
    }

    @Test
    void anotherTypeDoesNotFit() throws Exception {
        try (CheckpointReader reader = CheckpointReader.open(golden(2, 1), Images.KEY)) {
            assertThrows(ImageError.Corrupt.class, () -> reader.table("things", Everything.class));
        }
    }

    private static byte[] memory(int node, int checkpoint) {
        byte[] memory = new byte[8 * Range.PAGE];
        java.util.Arrays.fill(memory, 0, Range.PAGE, (byte) (1 + node));
        memory[7 * Range.PAGE + 1] = 9;
        if (checkpoint > 1) {
            java.util.Arrays.fill(memory, 2 * Range.PAGE, 5 * Range.PAGE, (byte) checkpoint);
        }
        return memory;
    }

    /** Argument: the directory to write the images to. */
    public static void main(String[] args) throws IOException {
        WriterOptions options = Images.options().withStripes(1).withForm(ImageForm.PLAIN.withIncremental(true));
        History first = write(Path.of(args[0]), options, null, 1);
        write(Path.of(args[0]),
                options.withForm(ImageForm.PLAIN.withIncremental(true).withZstdLevel(ImageForm.ADAPTIVE)),
                first, 2);
        write(Path.of(args[0]), Images.encrypted().withStripes(1), null, 3);
        write(Path.of(args[0]), options.withForm(ImageForm.PLAIN.withIntegrity(Manifest.Integrity.SHA256)), null, 4);
    }

    private static History write(Path parent, WriterOptions options, History previous, int checkpoint)
            throws IOException {
        try (CheckpointWriter writer = CheckpointWriter.create(parent, options, previous)) {
            for (int i = 0; i < 2; i++) {
                byte[] memory = memory(i, checkpoint);
                NodeWriter node = writer.node(i, i == 0 ? "host a" : "host b");
                node.memory(10, List.of(new Range(0x7000, memory.length)), (address, into) -> {
                    into.copyFrom(MemorySegment.ofArray(memory).asSlice(address - 0x7000, into.byteSize()));
                    return into.byteSize();
                });
                node.table("things", Thing.class, List.of(THINGS.get(i)));
            }
            writer.table("everything", Everything.class, List.of(new Everything(1, -2, true, "\u00fc", new byte[]{1, 2},
                    new int[]{3}, new long[]{4, 5}, Phase.RESUME)));
            writer.statistics(List.of(new PhaseTime(0, Phase.SUSPEND, 1), new PhaseTime(0, Phase.RESUME, 2),
                    new PhaseTime(1, Phase.DRAIN, 2)));
            writer.commit(
                    new CheckpointInfo(2, Instant.parse("2026-11-21T00:00:00Z"), "x86_64", Map.of("job", "golden")));
            return writer.history();
        }
    }
}
