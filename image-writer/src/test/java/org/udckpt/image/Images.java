package org.udckpt.image;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.udckpt.image.key.EncryptionSecret;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.ImageForm;
import org.udckpt.image.write.NodeWriter;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.image.write.WriterOptions;

/** Small checkpoints for tests. */
public final class Images {
    public static final ImageKey KEY =
            ImageKey.of("0123456789abcdef0123456789abcdef".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    /** The same, for encrypted images. */
    static final ImageKey SECRET_KEY = KEY.with(EncryptionSecret
            .of("a secret of thirty-two bytes ...".getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
    public static final CheckpointInfo INFO = new CheckpointInfo(2, Instant.parse("2026-11-21T01:02:03.5Z"), "x86_64",
            Map.of("job", "cg 4 ranks", "empty", "", "odd", "100% \u00fc\n"));

    record Named(int id, String name) {}

    private Images() {}

    public static long seed(String test) {
        long seed = Long.getLong("udckpt.seed", System.nanoTime());
        System.out.println(test + ": seed " + seed + " (repeat with -Dudckpt.seed=" + seed + ")");
        return seed;
    }

    public static WriterOptions options() {
        return WriterOptions.of(KEY).withBufferBytes(4 << 20);
    }

    public static List<FakeProcess> processes(Random random, int count) {
        return java.util.stream.IntStream.range(0, count)
                .mapToObj(i -> new FakeProcess(100 + i, random, 1 + random.nextInt(30), 40)).toList();
    }

    public static WriterOptions encrypted() {
        return WriterOptions.of(SECRET_KEY).withBufferBytes(4 << 20);
    }

    /**
     * As {@link #options}, compressed, encrypted, checked as chance has it; all that it writes can be read with
     * {@link #SECRET_KEY}.
     */
    static WriterOptions randomOptions(Random random) {
        WriterOptions options = WriterOptions.of(random.nextBoolean() ? KEY : SECRET_KEY).withBufferBytes(4 << 20);
        Manifest.Integrity integrity = Manifest.Integrity.values()[random.nextInt(3)];
        return options.withStripes(1 + random.nextInt(3)).withDirect(random.nextBoolean())
                .withForm(new ImageForm(integrity, ImageForm.ADAPTIVE + random.nextInt(4), random.nextBoolean()));
    }

    /** Writes a checkpoint with the given processes on one node. */
    public static Manifest write(Path parent, WriterOptions options, List<FakeProcess> processes) throws IOException {
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

    public static void assertHolds(Path checkpoint, List<FakeProcess> processes) throws IOException {
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, SECRET_KEY)) {
            for (FakeProcess process : processes) {
                process.assertEqualTo(reader.memory(process.id));
            }
        }
    }
}
