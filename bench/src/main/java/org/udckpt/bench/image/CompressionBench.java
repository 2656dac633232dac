package org.udckpt.bench.image;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.udckpt.image.Manifest;
import org.udckpt.image.Range;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.MemoryReader;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.ImageForm;
import org.udckpt.image.write.NodeWriter;
import org.udckpt.image.write.WriterOptions;

/**
 * The memory of a program as an image has it, written and read again without compression, with that of level 1, and
 * with what each block asks for, in turns: what is saved, and the processor time of all threads of this process.
 */
final class CompressionBench {
    private static final int REPEATS = 5;
    private static final double NANOS = 1e9;
    private static final Map<String, Integer> LEVELS = levels();
    private final Path work;
    private final ImageKey key;

    /** Memory of one process: the pieces by their addresses. */
    private record LoadedProcess(int id, NavigableMap<Long, MemorySegment> pieces) {
        List<Range> ranges() {
            return pieces.entrySet().stream().map(e -> new Range(e.getKey(), e.getValue().byteSize())).toList();
        }

        long read(long address, MemorySegment into) {
            Map.Entry<Long, MemorySegment> piece = pieces.floorEntry(address);
            into.copyFrom(piece.getValue().asSlice(address - piece.getKey(), into.byteSize()));
            return into.byteSize();
        }
    }

    /** Seconds of processor time, and bytes, of each time. */
    private record Figures(List<Double> write, List<Double> read, List<Long> stored) {
        Figures() {
            this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        }
    }

    /** @param work on the disk that images are written to */
    CompressionBench(Path work) throws IOException {
        this.work = work.resolve("compressed");
        this.key = ImageKey.ofReader(System.getenv());
    }

    private static Map<String, Integer> levels() {
        Map<String, Integer> levels = new LinkedHashMap<>();
        levels.put("none", 0);
        levels.put("zstd:1", 1);
        levels.put("zstd", ImageForm.ADAPTIVE);
        return levels;
    }

    void measure(Path checkpoint) throws IOException {
        Map<String, Figures> figures = new LinkedHashMap<>();
        LEVELS.keySet().forEach(name -> figures.put(name, new Figures()));
        try (Arena arena = Arena.ofShared()) {
            List<LoadedProcess> processes = load(checkpoint, arena);
            for (int i = 0; i <= REPEATS; i++) {
                for (Map.Entry<String, Integer> level : LEVELS.entrySet()) {
                    once(processes, level.getValue(), figures.get(level.getKey()));
                }
            }
        }
        figures.values().forEach(of -> List.of(of.write(), of.read()).forEach(List::removeFirst)); // a young JVM's
        report(checkpoint, figures);
    }

    /** Without the pages of zeros, which no image has. */
    private List<LoadedProcess> load(Path checkpoint, Arena arena) throws IOException {
        List<LoadedProcess> processes = new ArrayList<>();
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, key)) {
            for (Map.Entry<Integer, List<Integer>> node : reader.processes().entrySet()) {
                for (int process : node.getValue()) {
                    NavigableMap<Long, MemorySegment> pieces = new TreeMap<>();
                    MemoryReader memory = reader.memory(node.getKey(), process);
                    for (Range range : memory.ranges()) {
                        MemorySegment piece = arena.allocate(range.length(), Range.PAGE);
                        memory.read(range.address(), piece);
                        pieces.put(range.address(), piece);
                    }
                    processes.add(new LoadedProcess(processes.size(), pieces));
                }
            }
        }
        return processes;
    }

    private void once(List<LoadedProcess> processes, int level, Figures figures) throws IOException {
        WriterOptions options = WriterOptions.of(key).withForm(ImageForm.PLAIN.withZstdLevel(level));
        double begin = processorSeconds();
        try (CheckpointWriter writer = CheckpointWriter.create(work, options)) {
            NodeWriter node = writer.node(0, "bench");
            for (LoadedProcess process : processes) {
                node.memory(process.id(), process.ranges(), process::read);
            }
            Manifest manifest = writer.commit(new CheckpointInfo(0, Instant.now(), "x86_64", Map.of()));
            double written = processorSeconds();
            figures.stored().add(manifest.storedBytes());
            try (CheckpointReader reader = CheckpointReader.open(writer.directory(), key)) {
                reader.verify((done, of) -> {});
            }
            figures.write().add(written - begin);
            figures.read().add(processorSeconds() - written);
        }
        ImageBench.remove(work);
    }

    private static double processorSeconds() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime() / NANOS;
    }

    private static void report(Path checkpoint, Map<String, Figures> all) {
        double plain = all.get("none").stored().getFirst();
        double before = saved(plain, all.get("zstd:1"));
        double least = all.get("zstd:1").stored().getFirst();
        System.out.printf("content of %s, %.0f MiB that are not zeros%n", checkpoint, plain / (1 << 20));
        all.forEach((name, of) -> {
            double stored = of.stored().getFirst();
            System.out.printf(
                    "  --compress %s: to %.1f%%; write %.2f s of processor time (%s), read %.2f s (%s); %.0f MB saved "
                            + "for a second: %.2f times as many as zstd:1 and %.2f times as much in all%n",
                    name, 100 * stored / plain, ImageBench.median(of.write()), ImageBench.all(of.write()),
                    ImageBench.median(of.read()), ImageBench.all(of.read()), saved(plain, of) / 1e6,
                    saved(plain, of) / before, (plain - stored) / (plain - least));
        });
    }

    private static double saved(double plain, Figures of) {
        return (plain - of.stored().getFirst()) / ImageBench.median(of.write());
    }
}
