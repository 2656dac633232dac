package org.udckpt.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.command.Command;
import org.udckpt.bench.command.JobStatus;
import org.udckpt.bench.command.Remapping;
import org.udckpt.bench.command.UdckptCommand;

/** One application run twice: through, and with a checkpoint, {@code kill -9} of all ranks and a restart. */
final class DemoRun {
    /** On a busy machine it takes as long as it takes: what says that it is stuck is that nothing comes. */
    private static final Duration SILENCE = Duration.ofMinutes(5);
    private static final int ECHOES_PER_CHECKPOINT = 4; // of the progress until the checkpoint: enough to see it move
    private static final double MIB = 1 << 20;
    private final Path root;
    private final Path work;
    private final int ranks;
    private final Application application;
    private final PrintStream out;

    DemoRun(Path root, Path work, int ranks, Application application, PrintStream out) {
        this.root = root;
        this.work = work;
        this.ranks = ranks;
        this.application = application;
        this.out = out;
    }

    /** @throws BenchFailure when the two answers differ, or on the way there */
    void show() throws IOException, InterruptedException {
        heading("1. " + application.name() + ", " + ranks + " ranks, uninterrupted");
        List<String> through = uninterrupted();
        heading("2. the same, with a checkpoint in the middle, kill -9 of all ranks, and a restart");
        List<String> restarted = interrupted();
        compare(through, restarted);
    }

    private List<String> uninterrupted() throws IOException, InterruptedException {
        UdckptCommand udckpt = in("uninterrupted");
        long start = System.nanoTime();
        try (Command run = udckpt.start(echo(), runArguments(jobName("through"), work.resolve("images-through")))) {
            List<String> lines = run.awaitSuccessWhileTalking(SILENCE);
            out.printf("   (%.1f s)%n", (System.nanoTime() - start) / 1e9);
            return lines;
        }
    }

    /** Gives what the restarted job printed. */
    private List<String> interrupted() throws IOException, InterruptedException {
        UdckptCommand udckpt = in("interrupted");
        Path images = work.resolve("images");
        String job = jobName("job");
        JobStatus before;
        String id;
        try (Command run = udckpt.start(echo(), runArguments(job, images))) {
            if (!run.output().awaitWhileTalking(application.progress(), application.checkpointAfter(), SILENCE)) {
                throw new BenchFailure(
                        (run.isRunning() ? "the job has printed nothing for " + SILENCE.toSeconds() + " s: "
                                : "the job ended before the checkpoint: ") + run.describe());
            }
            before = udckpt.status(job);
            id = udckpt.checkpoint(job);
            before.killRanks();
            int code = run.await(Duration.ofSeconds(60));
            out.printf("   checkpoint %s taken; all %d ranks killed; udckpt run ended with exit code %d%n", id,
                    before.ranks().size(), code);
            if (code == 0) {
                throw new BenchFailure("the job ended by itself before it could be killed: make it longer");
            }
        }
        return restart(udckpt, images, id, job, before);
    }

    private List<String> restart(UdckptCommand udckpt, Path images, String id, String job, JobStatus before)
            throws IOException, InterruptedException {
        String restartedJob = job + "-again";
        long start = System.nanoTime();
        try (Command restart =
                udckpt.start(echo(), List.of("restart", images.resolve(id).toString(), "--name", restartedJob))) {
            if (!restart.output().await(line -> true, 1, SILENCE)) {
                throw new BenchFailure("the restarted job printed nothing: " + restart.describe());
            }
            JobStatus after = udckpt.status(restartedJob);
            List<String> lines = restart.awaitSuccessWhileTalking(SILENCE);
            out.printf("   (restart and rest of the run: %.1f s)%n", (System.nanoTime() - start) / 1e9);
            heading("3. addresses, counters, stop time");
            new Remapping(before, after).print(out);
            printCheckpoint(udckpt.inspected(images, id));
            return lines;
        }
    }

    private void printCheckpoint(JsonNode checkpoint) {
        out.printf(
                "   checkpoint %s: state %s, %d ranks, %.1f MiB of memory, %.1f MiB stored, written in %.0f ms beside "
                        + "the job%n",
                checkpoint.path("id").asText(), checkpoint.path("state").asText(), checkpoint.path("ranks").asInt(),
                checkpoint.path("bytes").asLong() / MIB, checkpoint.path("stored_bytes").asLong() / MIB,
                checkpoint.path("write_ms").asDouble());
        out.printf("   the job stood still for %.1f ms (the slowest rank), %.1f ms (median)%n",
                checkpoint.path("stop_ms").path("max").asDouble(),
                checkpoint.path("stop_ms").path("median").asDouble());
        Map<String, Double> phases = new LinkedHashMap<>(); // of a phase that is measured per rank: the slowest
        checkpoint.path("phases")
                .forEach(phase -> phases.merge(phase.path("phase").asText(), phase.path("ms").asDouble(), Math::max));
        if (phases.isEmpty()) {
            throw new BenchFailure("udckpt inspect names no phases: " + checkpoint);
        }
        phases.forEach((phase, ms) -> out.printf("     %-10s %9.2f ms%n", phase, ms));
    }

    /** The restarted job goes on in the middle, so its output is the end of the uninterrupted run's. */
    private void compare(List<String> through, List<String> restarted) {
        heading("4. the answers");
        List<String> expected = application.answerIn(through);
        List<String> got = application.answerIn(restarted);
        if (expected.isEmpty() || got.isEmpty()) {
            throw new BenchFailure("no answer was printed: " + (expected.isEmpty() ? through : restarted));
        }
        out.println("   uninterrupted: " + expected.getLast());
        out.println("   restarted:     " + got.getLast());
        List<String> tail = expected.subList(Math.max(0, expected.size() - got.size()), expected.size());
        boolean same = tail.size() == got.size();
        for (int i = 0; same && i < got.size(); i++) {
            same = application.sameAnswer(tail.get(i), got.get(i));
        }
        if (!same) {
            throw new BenchFailure("the answers differ; the last " + got.size() + " lines should be\n" + expected
                    + "\nand are\n" + got);
        }
        out.printf("   equal %s: the restarted run's %d lines are the end of the uninterrupted one's %d%n",
                tail.equals(got) ? "bit for bit" : "within " + application.tolerance(), got.size(), expected.size());
    }

    private List<String> runArguments(String job, Path images) {
        int half = ranks / 2;
        String hosts = half == 0 ? "a:1" : "a:" + (ranks - half) + ",b:" + half;
        var words = new ArrayList<>(List.of("run", "-n", Integer.toString(ranks), "--hosts", hosts,
                "--name", job, "--dir", images.toString(), "--"));
        words.addAll(application.command());
        return words;
    }

    private UdckptCommand in(String directory) throws IOException {
        Path cwd = Files.createDirectories(work.resolve(directory));
        return new UdckptCommand(root, cwd, application.environment());
    }

    private String jobName(String suffix) {
        return application.name() + "-" + suffix + "-" + ProcessHandle.current().pid();
    }

    private Consumer<String> echo() {
        int every = Math.max(1, application.checkpointAfter() / ECHOES_PER_CHECKPOINT);
        AtomicInteger seen = new AtomicInteger();
        return line -> {
            if (application.progress().test(line) ? seen.getAndIncrement() % every == 0
                    : application.answer().test(line) && !line.startsWith("solve ")) {
                out.println("   | " + line.strip());
            }
        };
    }

    private void heading(String text) {
        out.println();
        out.println(text);
    }
}
