package org.udckpt.bench.image;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.bench.DemoFailure;
import org.udckpt.bench.image.Resident.Shape;
import org.udckpt.bench.image.Resident.Taken;

/**
 * How much slower a process writes its memory while its snapshot is written to an image, against a fork that nobody reads: what
 * copy-on-write costs it is in both. One process, so that a core is left for the writer.
 */
final class Beside {
    private static final int REPORT_MICROSECONDS = 5000;
    private static final int REPEATS = 5;
    private static final long REST_MS = 1500;
    private final Path root;
    /** Between the end of the write and the end of the command that asked for it. */
    private static final long COMMAND_END_MICROSECONDS = 30_000;
    private final Path work;
    private final int mebibytes;

    Beside(Path root, Path work, int mebibytes) {
        this.root = root;
        this.work = work;
        this.mebibytes = mebibytes;
    }

    void measure() throws IOException, InterruptedException {
        for (String[] options : new String[][] {{}, {"--io-idle"}, {"--max-rate", "300M"}}) {
            List<Double> written = new ArrayList<>();
            List<Double> forked = new ArrayList<>();
            try (Resident job = new Resident(root, work, work.resolve("images"), new Shape(1, mebibytes, "noise", "small", REPORT_MICROSECONDS), options)) {
                ProcessHandle rank = job.ranks().getFirst();
                job.checkpoint();
                for (int i = 0; i < REPEATS; i++) {
                    Thread.sleep(REST_MS);
                    Taken taken = job.checkpoint();
                    long span = (long) (1e6 * taken.writeSeconds());
                    long end = taken.endMicroseconds() - COMMAND_END_MICROSECONDS;
                    written.add(rate(job.lines(), end - span, end));
                    Thread.sleep(REST_MS);
                    signal(rank, "USR1");
                    long begin = microseconds();
                    Thread.sleep(span / 1000 + 100);
                    signal(rank, "USR2");
                    forked.add(rate(job.lines(), begin, begin + span));
                }
            }
            double ratio = ImageBench.median(written) / ImageBench.median(forked);
            System.out.printf("beside, 1 x %d MiB %s: %.0f pages/ms (%s), with a fork that nobody reads %.0f (%s): %+.1f%%%n", mebibytes,
                    String.join(" ", options), ImageBench.median(written), ImageBench.all(written), ImageBench.median(forked), ImageBench.all(forked), 100 * (ratio - 1));
        }
    }

    /** CLOCK_MONOTONIC, as the process prints it. */
    private static long microseconds() {
        return System.nanoTime() / 1000;
    }

    private static void signal(ProcessHandle process, String name) throws IOException, InterruptedException {
        if (new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start().waitFor() != 0) {
            throw new DemoFailure("kill -" + name + " of the process failed");
        }
    }

    /** Pages a millisecond between two times. */
    private static double rate(List<String> lines, long begin, long end) {
        long[] first = null;
        long[] last = null;
        for (String line : lines) {
            if (line.startsWith("pages ")) {
                String[] words = line.split(" ");
                long[] at = {Long.parseLong(words[1]), Long.parseLong(words[2])};
                first = at[1] <= begin || first == null ? at : first;
                last = at[1] <= end ? at : last;
            }
        }
        if (first == null || last == null || last[1] <= first[1]) {
            throw new DemoFailure("the process reported nothing between " + begin + " and " + end);
        }
        return 1000.0 * (last[0] - first[0]) / (last[1] - first[1]);
    }
}
