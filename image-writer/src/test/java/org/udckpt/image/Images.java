package org.udckpt.image;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Small checkpoints for tests. */
final class Images {
    static final ImageKey KEY = ImageKey.of("0123456789abcdef0123456789abcdef".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    static final CheckpointInfo INFO = new CheckpointInfo(2, Instant.parse("2026-11-21T01:02:03.5Z"), "x86_64",
            Map.of("job", "cg 4 ranks", "empty", "", "odd", "100% \u00fc\n"));

    record Named(int id, String name) { }

    private Images() { }

    static long seed(String test) {
        long seed = Long.getLong("udckpt.seed", System.nanoTime());
        System.out.println(test + ": seed " + seed + " (repeat with -Dudckpt.seed=" + seed + ")");
        return seed;
    }

    static WriterOptions options() {
        return WriterOptions.of(KEY).withBufferBytes(4 << 20);
    }

    static List<FakeProcess> processes(Random random, int count) {
        return java.util.stream.IntStream.range(0, count).mapToObj(i -> new FakeProcess(100 + i, random, 1 + random.nextInt(30), 40)).toList();
    }

    /** Writes a checkpoint with the given processes on one node. */
    static Manifest write(Path parent, WriterOptions options, List<FakeProcess> processes) throws IOException {
        try (CheckpointWriter writer = CheckpointWriter.create(parent, options)) {
            fill(writer, processes);
            return writer.commit(INFO);
        }
    }

    static void fill(CheckpointWriter writer, List<FakeProcess> processes) throws IOException {
        NodeWriter node = writer.node(0, "host a");
        for (FakeProcess process : processes) {
            node.memory(process.id, process.ranges(), process);
        }
        node.table("names", Named.class, List.of(new Named(1, "one"), new Named(2, null)));
        writer.table("job", Named.class, List.of(new Named(3, "three")));
        writer.statistics(List.of(new PhaseTime(0, Phase.SUSPEND, 5), new PhaseTime(0, Phase.SNAPSHOT, 10),
                new PhaseTime(1, Phase.SUSPEND, 1), new PhaseTime(1, Phase.RESUME, 2)));
    }

    static void assertHolds(Path checkpoint, List<FakeProcess> processes) throws IOException {
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, KEY)) {
            for (FakeProcess process : processes) {
                process.assertEqualTo(reader.memory(process.id));
            }
        }
    }
}
