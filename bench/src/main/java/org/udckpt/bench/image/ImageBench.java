package org.udckpt.bench.image;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.command.Command;
import org.udckpt.bench.image.Resident.Shape;
import org.udckpt.bench.image.Resident.Taken;

/**
 * {@code bench/image}: the image writer against the device, against gzip, and against a job that nobody writes; as
 * ratios of one run.
 */
@SuppressWarnings("try") // close() waits for a program, and whoever closes may be interrupted
public final class ImageBench {
    private static final int RANKS = 4;
    private static final int REPEATS = 5;
    private final Path root = Path.of(System.getProperty("udckpt.root"));
    private final Path work;
    private final int mebibytes;
    private final int pairs;

    private ImageBench(Path work, int mebibytes, int pairs) {
        this.pairs = pairs;
        this.work = work;
        this.mebibytes = mebibytes;
    }

    /**
     * Arguments: a directory on the disk, MiB of each rank, how many pairs `beside` and `courtesy` make, what to
     * measure.
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path work = Files.createTempDirectory(Path.of(arguments[0]), "image-bench");
        ImageBench bench = new ImageBench(work, Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
        try {
            for (String what : Arrays.asList(arguments).subList(3, arguments.length)) {
                bench.measure(what);
            }
        } finally {
            remove(work);
        }
    }

    private void measure(String what) throws IOException, InterruptedException {
        switch (what) {
            case "disk" -> disk("gmac");
            case "memory" -> {
                memory("/dev/shm", Files.createTempDirectory(Path.of("/dev/shm"), "image-bench"));
                hugeMemory();
            }
            case "compress" -> {
                compress("matrix");
                compress("numbers");
            }
            case "encrypt" -> encrypt();
            case "stops" -> stops();
            case "beside" -> new ConcurrentIoBench(root, work, mebibytes, pairs).measure(new String[0]);
            case "courtesy" -> new ConcurrentIoBench(root, work, mebibytes, pairs).measure(new String[]{"--io-idle"},
                    new String[]{"--max-rate", "300M"});
            case "incremental" -> incremental();
            case "tracking" -> new TrackingBench(root, work, mebibytes, pairs).measure();
            case "reads" -> new ConcurrentReadBench(root, work, mebibytes).measure(new String[0],
                    new String[]{"--io-idle"}, new String[]{"--max-rate", "300M"});
            case String image when image.contains("/") -> new CompressionBench(work).measure(Path.of(image));
            default -> throw new IllegalArgumentException(
                    "not one of disk, memory, compress, encrypt, stops, beside, courtesy, reads, incremental, "
                            + "tracking, or the directory of a checkpoint: " + what);
        }
    }

    private Resident job(int ranks, int size, String content, String pages, Path images, String... options)
            throws IOException, InterruptedException {
        remove(images);
        return new Resident(root, work, images, new Shape(ranks, size, content, pages, 0), options);
    }

    private void disk(String integrity) throws IOException, InterruptedException {
        List<Double> ours = new ArrayList<>();
        List<Double> device = new ArrayList<>();
        Path images = work.resolve("images");
        try (Resident job =
                job(RANKS, mebibytes, "noise", "small", images, "--integrity", integrity, "--full-interval", "1")) {
            job.checkpoint(); // a young JVM's
            for (int i = 0; i < REPEATS; i++) {
                device.add(Device.direct(work, (long) RANKS * mebibytes << 20).rate());
                ours.add(job.checkpoint().rate());
                remove(images);
            }
            System.out.printf(
                    "disk, %d x %d MiB, %s: %.2f GB/s (%s), fio %.2f GB/s (%s): ratio %.2f; agent's peak memory %d "
                            + "MiB%n",
                    RANKS, mebibytes, integrity,
                    median(ours), all(ours), median(device), all(device), median(ours) / median(device),
                    job.agentPeakMebibytes());
        }
    }

    /** A tmpfs whose files have huge pages, as an administrator may mount one for a fast tier; only root can. */
    private void hugeMemory() throws IOException, InterruptedException {
        if (!System.getProperty("user.name").equals("root")) {
            System.out.println("memory, tmpfs with huge=within_size: not measured, since only root can mount one");
            return;
        }
        Path mount = Files.createDirectory(work.resolve("huge"));
        // by the size of a write since Linux 6.14; before, a file that grows has none
        String kernel = "huge=within_size";
        try {
            call("mount", "-t", "tmpfs", "-o", kernel + ",size=" + 3L * RANKS * mebibytes + "m", "udckpt-image-bench",
                    mount.toString());
        } catch (BenchFailure refused) {
            System.out.println("memory, tmpfs with " + kernel + ": not measured: "
                    + refused.getMessage().lines().findFirst().orElse(""));
            return;
        }
        Thread atEnd = new Thread(() -> unmount(mount)); // also by a signal
        Runtime.getRuntime().addShutdownHook(atEnd);
        try {
            memory("tmpfs with " + kernel, Files.createDirectory(mount.resolve("images")));
        } finally {
            Runtime.getRuntime().removeShutdownHook(atEnd);
            unmount(mount);
        }
    }

    private static void unmount(Path mount) {
        try {
            new ProcessBuilder("umount", "-l", mount.toString()).inheritIO().start().waitFor();
        } catch (IOException | InterruptedException e) {
            System.err.println("bench/image: " + mount + " may still be mounted: " + e);
        }
    }

    private void call(String... words) throws IOException, InterruptedException {
        try (Command command = Command.start(work, Map.of(), System.err::println, List.of(words))) {
            command.awaitSuccess(Duration.ofMinutes(1));
        }
    }

    /**
     * First all of ours, then all of fio's, after one of each that does not count: ours are in huge pages and fio's in
     * small ones, and in turns each would find the memory of the other, in pieces, and get its own from a host that has
     * it back (scripts/free-memory.sh).
     *
     * @param shared an empty directory, which is removed
     */
    private void memory(String what, Path shared) throws IOException, InterruptedException {
        try {
            for (String integrity : List.of("xxh3", "gmac", "sha256")) {
                List<Double> ours = new ArrayList<>();
                List<Double> device = new ArrayList<>();
                List<Double> agent = new ArrayList<>();
                try (Resident job =
                        job(RANKS, mebibytes, "noise", "small", shared.resolve("images"), "--integrity", integrity)) {
                    for (int i = 0; i <= REPEATS; i++) {
                        Taken taken = job.checkpoint();
                        ours.add(taken.bytes() / 1e9 / taken.cpuSeconds());
                        agent.add(taken.agentSeconds());
                        remove(shared.resolve("images"));
                    }
                    for (int i = 0; i <= REPEATS; i++) {
                        Device.Written written = Device.memory(shared, (long) RANKS * mebibytes << 20);
                        device.add(((long) RANKS * mebibytes << 20) / 1e9 / written.cpuSeconds());
                    }
                }
                List.of(ours, agent, device).forEach(List::removeFirst);
                System.out.printf(
                        "memory, %s, %d x %d MiB, %s: %.2f GB/s and core of processor (%s; %.2f s of it the agent's), "
                                + "fio's write(2) %.2f (%s): ratio %.2f%n",
                        what, RANKS, mebibytes,
                        integrity, median(ours), all(ours), median(agent), median(device), all(device),
                        median(ours) / median(device));
            }
        } finally {
            remove(shared);
        }
    }

    private void compress(String content) throws IOException, InterruptedException {
        Path plain = work.resolve("plain");
        double gzip;
        try (Resident job = job(RANKS, mebibytes / 8, content, "small", plain)) {
            job.checkpoint();
            try (Stream<Path> files = Files.list(plain.resolve("ckpt-0001"))) {
                gzip = Device
                        .gzipSeconds(files.filter(file -> file.getFileName().toString().contains("stripe")).toList());
            }
        }
        Path images = work.resolve("images");
        List<Double> ours = new ArrayList<>();
        Taken last = null;
        try (Resident job = job(RANKS, mebibytes / 8, content, "small", images, "--compress", "zstd:1")) {
            job.checkpoint();
            for (int i = 0; i < REPEATS; i++) {
                last = job.checkpoint();
                ours.add(last.writeSeconds());
            }
        }
        System.out.printf(
                "compress, %d x %d MiB of %s to %.0f%%: %.2f s (%s), gzip -1 of one after the other %.2f s: ratio "
                        + "%.1f%n",
                RANKS, mebibytes / 8,
                content, 100.0 * last.storedBytes() / last.bytes(), median(ours), all(ours), gzip, gzip / median(ours));
        remove(plain);
        remove(images);
    }

    private void encrypt() throws IOException, InterruptedException {
        Path images = work.resolve("images");
        List<Double> ours = new ArrayList<>();
        try (Resident job =
                job(RANKS, mebibytes / 4, "noise", "small", images, "--encrypt", "command:echo " + "5a".repeat(32))) {
            for (int i = 0; i <= REPEATS; i++) {
                ours.add(job.checkpoint().rate());
            }
        }
        System.out.printf("encrypt, %d x %d MiB: first %.2f GB/s, then %.2f GB/s (%s)%n", RANKS, mebibytes / 4,
                ours.getFirst(),
                median(ours.subList(1, ours.size())), all(ours));
        remove(images);
    }

    /** What a checkpoint costs of a job that has changed next to nothing since the one before it. */
    private void incremental() throws IOException, InterruptedException {
        Path images = work.resolve("images");
        List<Double> seconds = new ArrayList<>();
        List<Double> cpu = new ArrayList<>();
        Taken full;
        Taken last = null;
        try (Resident job = job(RANKS, mebibytes, "noise", "small", images, "--full-interval", "100")) {
            job.checkpoint(); // a young JVM's
            remove(images);
            full = job.checkpoint(); // its base is gone
            for (int i = 0; i < REPEATS; i++) {
                last = job.checkpoint();
                seconds.add(last.writeSeconds());
                cpu.add(last.cpuSeconds());
            }
        }
        System.out.printf(
                "incremental, %d x %d MiB that nobody writes: %.2f s (%s) and %.2f s of processor time for %.1f MiB, "
                        + "in place of %.2f s and %.2f s for %.0f MiB%n",
                RANKS, mebibytes, median(seconds),
                all(seconds), median(cpu), last.storedBytes() / 1048576.0, full.writeSeconds(), full.cpuSeconds(),
                full.storedBytes() / 1048576.0);
        remove(images);
    }

    private void stops() throws IOException, InterruptedException {
        for (String pages : List.of("small", "huge")) {
            for (int ranks : new int[]{1, RANKS}) {
                List<Double> stops = new ArrayList<>();
                Path images = work.resolve("images");
                try (Resident job = job(ranks, mebibytes, "noise", pages, images)) {
                    double first = job.checkpoint().stopMs();
                    for (int i = 0; i < REPEATS; i++) {
                        remove(images);
                        stops.add(job.checkpoint().stopMs());
                    }
                    System.out.printf(
                            "stop, %d x %d MiB in %s pages: first %.0f ms, then %.1f ms (%s); bare forks, as many at "
                                    + "once: %.1f ms%n",
                            ranks, mebibytes,
                            pages, first, median(stops), all(stops), job.bareForkMs());
                }
                remove(images);
            }
        }
    }

    static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    static String all(List<Double> values) {
        return String.join(" ", values.stream().map("%.2f"::formatted).toList());
    }

    static void remove(Path directory) throws IOException {
        if (Files.notExists(directory)) {
            return;
        }
        try (Stream<Path> tree = Files.walk(directory)) {
            for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
