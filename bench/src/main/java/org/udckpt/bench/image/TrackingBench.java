package org.udckpt.bench.image;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.bench.image.Resident.Shape;
import org.udckpt.bench.image.Resident.Taken;

/**
 * Incremental checkpoints where the kernel says what was written ({@code --write-tracking}) and where all memory is
 * read, in turn; and what that costs the process, whose first write to each page after a checkpoint is noted.
 */
@SuppressWarnings("try") // close() waits for a program, and whoever closes may be interrupted
final class TrackingBench {
    private static final int REPEATS = 5;

    private final Path root;
    private final Path work;
    private final int mebibytes;
    private final int rounds;

    TrackingBench(Path root, Path work, int mebibytes, int rounds) {
        this.root = root;
        this.work = work;
        this.mebibytes = mebibytes;
        this.rounds = rounds;
    }

    /** Of several checkpoints. */
    private static final class Costs {
        private final List<Double> wall = new ArrayList<>();
        private final List<Double> cpu = new ArrayList<>();
        private final List<Double> agent = new ArrayList<>();
        private final List<Double> stops = new ArrayList<>();
        private Taken last;

        void add(Taken taken) {
            last = taken;
            wall.add(1e3 * taken.writeSeconds());
            cpu.add(1e3 * (taken.cpuSeconds() + taken.ranksSeconds()));
            agent.add(1e3 * taken.agentSeconds());
            stops.add(taken.stopMs());
        }

        void print(String what, int mebibytes) {
            System.out.printf(
                    "tracking, %d MiB, %s: write %.0f ms (%s), stop %.1f ms (%s), processor time %.0f ms (%s; the "
                            + "agent's %.0f), %.1f ms for a GiB; %.1f MiB stored%n",
                    mebibytes, what, ImageBench.median(wall), ImageBench.all(wall), ImageBench.median(stops),
                    ImageBench.all(stops), ImageBench.median(cpu), ImageBench.all(cpu), ImageBench.median(agent),
                    ImageBench.median(cpu) * 1024 / mebibytes, last.storedBytes() / 1048576.0);
        }
    }

    void measure() throws IOException, InterruptedException {
        for (String pages : List.of("small", "huge")) {
            for (boolean tracked : new boolean[]{true, false}) {
                costs(pages, tracked);
            }
            writes(pages);
        }
    }

    private Resident job(String pages, boolean tracked) throws IOException, InterruptedException {
        Path images = work.resolve("images");
        ImageBench.remove(images);
        return new Resident(root, work, images, new Shape(1, mebibytes, "noise", pages, 0), "--full-interval", "1000",
                tracked ? "--write-tracking" : "--no-write-tracking");
    }

    private void costs(String pages, boolean tracked) throws IOException, InterruptedException {
        String how = pages + " pages, " + (tracked ? "tracked" : "read") + ", ";
        Costs full = new Costs();
        Costs unchanged = new Costs();
        Costs changed = new Costs();
        try (Resident job = job(pages, tracked)) {
            full.add(job.checkpoint());
            for (int i = 0; i < REPEATS; i++) {
                unchanged.add(job.checkpoint());
            }
            for (int i = 0; i < REPEATS; i++) {
                job.write("HUP");
                changed.add(job.checkpoint());
            }
        }
        full.print(how + "the first", mebibytes);
        unchanged.print(how + "nothing changed", mebibytes);
        changed.print(how + "one page of 100 changed", mebibytes);
        ImageBench.remove(work.resolve("images"));
    }

    /** A write to each page: of a process that nobody watches, beside a fork, and after a checkpoint with tracking. */
    private void writes(String pages) throws IOException, InterruptedException {
        List<Double> bare = new ArrayList<>();
        List<Double> forked = new ArrayList<>();
        List<Double> tracked = new ArrayList<>();
        try (Resident job = job(pages, true)) {
            for (int i = 0; i < rounds; i++) {
                bare.add(job.write("ALRM"));
                ProcessHandle rank = job.ranks().getFirst();
                Resident.signal(rank, "USR1");
                Thread.sleep(500);
                forked.add(job.write("ALRM"));
                Resident.signal(rank, "USR2");
                Thread.sleep(500);
                job.write("ALRM");
                job.checkpoint();
                tracked.add(job.write("ALRM"));
                job.write("ALRM");
            }
        }
        System.out.printf(
                "tracking, %d MiB, %s pages: a write to each page takes %.0f ms (%s), beside a fork %.0f ms (%s), "
                        + "first after a checkpoint %.0f ms (%s)%n",
                mebibytes, pages, ImageBench.median(bare), ImageBench.all(bare), ImageBench.median(forked),
                ImageBench.all(forked), ImageBench.median(tracked), ImageBench.all(tracked));
        ImageBench.remove(work.resolve("images"));
    }
}
