package org.udckpt.bench.image;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.udckpt.process.capture.Capture;
import org.udckpt.process.capture.CaptureRequest;
import org.udckpt.process.identity.KnownFiles;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.MemorySource;

/**
 * {@code bench/digests}: processor time of finding out what files are known by, at the first checkpoint and at later
 * ones.
 */
public final class DigestCost {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final com.sun.management.OperatingSystemMXBean PROCESS =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final int START_MS = 3000, BUFFER = 1 << 20, WARM = 5;
    private static final double MILLION = 1e6;

    private record Round(double captureMs, double digestsMs, double mebibytes, List<FileIdentity> files) {}

    private DigestCost() {}

    /** Arguments: how many captures; the program and its arguments. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        int count = Integer.parseInt(arguments[0]);
        ProcessHandle program = start(Arrays.asList(arguments).subList(1, arguments.length));
        try {
            Thread.sleep(START_MS);
            KnownFiles known = new KnownFiles();
            List<Round> rounds = new ArrayList<>();
            for (int i = 0; i < WARM + count; i++) {
                rounds.add(round((int) program.pid(), known));
            }
            Round first = rounds.getFirst();
            long digests = first.files.stream().filter(file -> file.digest() != null).count();
            System.out.printf("files      %d, of which %d have a digest%n", first.files.size(), digests);
            System.out.printf(
                    "first      %.1f MiB read in %.1f ms of processor time (%.0f MiB/s); the capture took %.1f ms%n",
                    first.mebibytes, first.digestsMs,
                    first.mebibytes * 1000 / first.digestsMs, first.captureMs);
            List<Round> later = rounds.subList(WARM, rounds.size());
            double warm = median(later.stream().mapToDouble(Round::digestsMs).toArray());
            System.out.printf("warm       %.2f ms, %.1f MiB read%n", warm, later.getLast().mebibytes - first.mebibytes);
        } finally {
            program.destroyForcibly();
        }
    }

    private static Round round(int pid, KnownFiles known) {
        CaptureRequest request =
                new CaptureRequest(List.of(new CaptureRequest.Root(0, pid)), CaptureRequest.StandardStreams.NONE);
        long begun = PROCESS.getProcessCpuTime();
        try (Capture capture = Capture.take(request); Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(BUFFER, 4096);
            for (MemorySource source : capture.sources()) {
                read(source, buffer);
            }
            long captured = PROCESS.getProcessCpuTime();
            long thread = THREADS.getCurrentThreadCpuTime();
            List<FileIdentity> files = capture.identities(known);
            return new Round((captured - begun) / MILLION, (THREADS.getCurrentThreadCpuTime() - thread) / MILLION,
                    known.readBytes() / (double) (1 << 20), files);
        }
    }

    private static void read(MemorySource source, MemorySegment buffer) {
        long[] extents = source.extents();
        for (int i = 0; i < extents.length; i += 2) {
            for (long at = extents[i]; at < extents[i + 1]; at += BUFFER) {
                source.read(at, buffer.asSlice(0, Math.min(BUFFER, extents[i + 1] - at)));
            }
        }
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    /** No child of this JVM, which would take the stops of a traced one for its own. */
    private static ProcessHandle start(List<String> words) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of("sh", "-c", "\"$@\" >/dev/null 2>&1 </dev/null & echo $!", "sh"));
        command.addAll(words);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("LD_PRELOAD", System.getProperty("udckpt.native") + "/libudckpt.so");
        Process shell = builder.start();
        try (BufferedReader said = new BufferedReader(new InputStreamReader(shell.getInputStream()))) {
            long pid = Long.parseLong(said.readLine());
            shell.waitFor();
            return ProcessHandle.of(pid).orElseThrow(() -> new IOException("the program has ended at once: " + words));
        }
    }
}
