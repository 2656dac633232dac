package org.udckpt.bench.image;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.image.Resident.Shape;
import org.udckpt.bench.image.Resident.Taken;

/**
 * How much longer a process takes for the same work while its snapshot is written to an image, than beside a fork that
 * nobody reads: what copy-on-write costs it is in both. The work is what it does while one image is written, page after
 * page in random order; a pair is one image and one fork. One process, so that a core is left for the writer.
 */
@SuppressWarnings("try") // close() waits for a program, and whoever closes may be interrupted
final class ConcurrentIoBench {
    private static final int REPORT_MICROSECONDS = 2000;
    private static final int RANKS_AT_ONCE = 4; // of the other measurements: this one process has the memory of all
    private static final long REST_MS = 1500;
    /** Between the end of the write and the end of the command that asked for it. */
    private static final long COMMAND_END_MICROSECONDS = 30_000;
    /** A fork of 4 GiB takes no longer, and neither does the stop for a snapshot. */
    private static final long FORK_MICROSECONDS = 400_000;
    private static final int LONGER = 4;
    private final Path root;
    private final Path work;
    private final int mebibytes;
    private final int pairs;

    /**
     * @param pairs of a write and a fork: the machine's noise is larger than what is measured, and only many of them
     *     say what it is
     */
    ConcurrentIoBench(Path root, Path work, int mebibytes, int pairs) {
        this.pairs = pairs;
        this.root = root;
        this.work = work;
        this.mebibytes = RANKS_AT_ONCE * mebibytes;
    }

    /** @param ways each the flags of a job */
    void measure(String[]... ways) throws IOException, InterruptedException {
        for (String[] options : ways) {
            List<Double> seconds = new ArrayList<>();
            List<Double> slower = new ArrayList<>();
            String[] all = new String[options.length + 2];
            System.arraycopy(options, 0, all, 2, options.length);
            all[0] = "--full-interval";
            all[1] = "1";
            try (Resident job = new Resident(root, work, work.resolve("images"),
                    new Shape(1, mebibytes, "noise", "small", REPORT_MICROSECONDS), all)) {
                job.checkpoint();
                for (int i = 0; i < pairs; i++) {
                    Thread.sleep(REST_MS);
                    Taken taken = job.checkpoint();
                    ImageBench.remove(work.resolve("images"));
                    long span = (long) (1e6 * taken.writeSeconds());
                    long begun = taken.endMicroseconds() - COMMAND_END_MICROSECONDS - span;
                    Work written = new Work(job.lines(), begun - FORK_MICROSECONDS, begun + FORK_MICROSECONDS);
                    seconds.add(span / 1e6);
                    slower.add(100 * (span / beside(job, written.after(span), span) - 1));
                }
            }
            System.out.printf(
                    "beside, 1 x %d MiB %s: what the process does in the %.2f s of a write (%s) takes so much longer "
                            + "than beside a fork that nobody reads: %+.1f%% (%s)%n",
                    mebibytes, String.join(" ", options), ImageBench.median(seconds), ImageBench.all(seconds),
                    ImageBench.median(slower), ImageBench.all(slower));
        }
    }

    /** How long the process takes for so many pages beside a bare fork, in microseconds. */
    private static double beside(Resident job, double pages, long span) throws IOException, InterruptedException {
        ProcessHandle rank = job.ranks().getFirst();
        Thread.sleep(REST_MS);
        long begun = microseconds();
        Resident.signal(rank, "USR1");
        try {
            for (int i = 0; i < LONGER; i++) {
                Thread.sleep((span + FORK_MICROSECONDS) / 1000);
                double took = new Work(job.lines(), begun, begun + FORK_MICROSECONDS).until(pages);
                if (!Double.isNaN(took)) {
                    return took;
                }
            }
        } finally {
            Resident.signal(rank, "USR2");
        }
        throw new BenchFailure("beside a fork the process has not written " + (long) pages + " pages in " + LONGER
                + " times " + span + " us");
    }

    /** CLOCK_MONOTONIC, as the process prints it. */
    private static long microseconds() {
        return System.nanoTime() / 1000;
    }

    /**
     * What a process does after a fork: pages over time, from the first report after its longest silence between two
     * times.
     */
    private static final class Work {
        private final List<long[]> reports = new ArrayList<>();

        Work(List<String> lines, long from, long to) {
            long[] last = null;
            long longest = 0;
            for (String line : lines) {
                if (!line.startsWith("pages ")) {
                    continue;
                }
                String[] words = line.split(" ");
                long[] report = {Long.parseLong(words[1]), Long.parseLong(words[2])};
                if (last != null && report[1] >= from && last[1] <= to && report[1] - last[1] > longest) {
                    longest = report[1] - last[1];
                    reports.clear();
                }
                last = report;
                reports.add(report);
            }
            if (longest == 0) {
                throw new BenchFailure("the process reported nothing between " + from + " and " + to);
            }
        }

        /** Pages that are written after so many microseconds. */
        double after(long microseconds) {
            return interpolated(1, 0, microseconds);
        }

        /** Microseconds until so many pages are written; NaN: they are not yet. */
        double until(double pages) {
            return interpolated(0, 1, pages);
        }

        private double interpolated(int by, int what, double value) {
            long[] first = reports.getFirst();
            long[] before = first;
            for (long[] report : reports) {
                if (report[by] - first[by] >= value) {
                    double part = report[by] == before[by] ? 0
                            : (value - (before[by] - first[by])) / (report[by] - before[by]);
                    return before[what] - first[what] + part * (report[what] - before[what]);
                }
                before = report;
            }
            return Double.NaN;
        }
    }
}
