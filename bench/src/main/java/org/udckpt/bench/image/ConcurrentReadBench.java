package org.udckpt.bench.image;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.image.Resident.Shape;
import org.udckpt.bench.image.Resident.Taken;

/**
 * Measures the disk throughput left to the job's own reads while its image is written: random reads by fio of 64 KiB,
 * two at a time, past the page cache, beside a write and, before it, alone.
 */
@SuppressWarnings("try") // close() waits for a program, and whoever closes may be interrupted
final class ConcurrentReadBench {
    private static final int RANKS = 4;
    private static final int REPEATS = 3;
    private static final int SECONDS = 2;
    /**
     * Until the command of a checkpoint has come to its write; the write has to take longer than this and the reads.
     */
    private static final long COMMAND_START_MS = 800;

    private final Path root;
    private final Path work;
    private final int mebibytes;

    ConcurrentReadBench(Path root, Path work, int mebibytes) {
        this.root = root;
        this.work = work;
        this.mebibytes = mebibytes;
    }

    /** @param ways each the flags of a job */
    void measure(String[]... ways) throws IOException, InterruptedException {
        Path file = Device.fileToRead(work);
        try {
            for (String[] options : ways) {
                measure(file, options);
            }
        } finally {
            Files.delete(file);
        }
    }

    private void measure(Path file, String[] options) throws IOException, InterruptedException {
        List<Double> alone = new ArrayList<>();
        List<Double> beside = new ArrayList<>();
        List<Double> seconds = new ArrayList<>();
        List<String> all = new ArrayList<>(List.of("--full-interval", "1", "--integrity", "xxh3"));
        all.addAll(List.of(options));
        Path images = work.resolve("images");
        try (Resident job = new Resident(root, work, images, new Shape(RANKS, mebibytes, "noise", "small", 0),
                all.toArray(String[]::new))) {
            for (int i = 0; i < REPEATS; i++) {
                alone.add(Device.reads(file, SECONDS));
                CompletableFuture<Taken> write = CompletableFuture.supplyAsync(() -> checkpoint(job));
                Thread.sleep(COMMAND_START_MS);
                beside.add(Device.reads(file, SECONDS));
                if (write.isDone()) {
                    throw new BenchFailure("the write ended before the reads did: give more MiB (-m)");
                }
                seconds.add(write.join().writeSeconds());
                ImageBench.remove(images);
            }
        }
        System.out.printf(
                "reads beside, %d x %d MiB %s: %.0f MB/s (%s) while an image is written in %.2f s, alone %.0f MB/s "
                        + "(%s): %.0f%% are left%n",
                RANKS, mebibytes, String.join(" ", options),
                ImageBench.median(beside), ImageBench.all(beside), ImageBench.median(seconds), ImageBench.median(alone),
                ImageBench.all(alone), 100 * ImageBench.median(beside) / ImageBench.median(alone));
    }

    private static Taken checkpoint(Resident job) {
        try {
            return job.checkpoint();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
