package org.udckpt.bench.image;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.udckpt.bench.command.Command;

/** What fio, a program that does nothing but write, gets out of a file system. */
final class Device {
    private static final Duration LIMIT = Duration.ofMinutes(3);

    private Device() {}

    /** @param rate GB/s; @param cpuSeconds of fio for all of it */
    record Written(double rate, double cpuSeconds) {}

    /** Sequential writes of 1 MiB past the page cache, 8 at a time, and the sync at the end. */
    static Written direct(Path directory, long bytes) throws IOException, InterruptedException {
        return fio(directory, bytes, "--direct=1", "--ioengine=io_uring", "--iodepth=8", "--end_fsync=1");
    }

    /** Writes of 1 MiB by write(2). */
    static Written memory(Path directory, long bytes) throws IOException, InterruptedException {
        // else its memory is taken before the clock begins
        return fio(directory, bytes, "--ioengine=psync", "--fallocate=none");
    }

    /** A file of a GiB, for {@link #reads}. */
    static Path fileToRead(Path directory) throws IOException, InterruptedException {
        Path file = directory.resolve("fio.reads");
        try (Command command = Command.start(directory, Map.of(), line -> {}, List.of("fio", "--name=file",
                "--filename=" + file, "--size=1g", "--rw=write", "--bs=1M", "--direct=1", "--end_fsync=1"))) {
            command.awaitSuccess(LIMIT);
        }
        return file;
    }

    /** MB/s of reads of 64 KiB at places of chance, past the page cache, two at a time. */
    static double reads(Path file, int seconds) throws IOException, InterruptedException {
        List<String> words = List.of("fio", "--name=reads", "--filename=" + file, "--size=1g", "--rw=randread",
                "--bs=64k", "--direct=1", "--ioengine=io_uring", "--iodepth=2", "--time_based",
                "--runtime=" + seconds, "--output-format=json");
        try (Command command = Command.start(file.getParent(), Map.of(), line -> {}, words)) {
            return new ObjectMapper().readTree(String.join("\n", command.awaitSuccess(LIMIT))).path("jobs").get(0)
                    .path("read").path("bw_bytes").asDouble() / 1e6;
        }
    }

    private static Written fio(Path directory, long bytes, String... options) throws IOException, InterruptedException {
        Path file = directory.resolve("fio.data");
        List<String> words = new java.util.ArrayList<>(
                List.of("fio", "--name=image", "--filename=" + file, "--size=" + bytes, "--rw=write", "--bs=1M",
                        "--refill_buffers=0", "--output-format=json"));
        words.addAll(List.of(options));
        try (Command command = Command.start(directory, Map.of(), line -> {}, words)) {
            JsonNode job =
                    new ObjectMapper().readTree(String.join("\n", command.awaitSuccess(LIMIT))).path("jobs").get(0);
            double seconds = job.path("job_runtime").asDouble() / 1e3;
            return new Written(bytes / 1e9 / seconds,
                    (job.path("usr_cpu").asDouble() + job.path("sys_cpu").asDouble()) / 100 * seconds);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /** Seconds that gzip takes for the files, one after the other. */
    static double gzipSeconds(List<Path> files) throws IOException, InterruptedException {
        long begin = System.nanoTime();
        for (Path file : files) {
            Process gzip = new ProcessBuilder("gzip", "-1").redirectInput(file.toFile())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            if (gzip.waitFor() != 0) {
                throw new IOException("gzip -1 of " + file + " failed");
            }
        }
        return (System.nanoTime() - begin) / 1e9;
    }
}
