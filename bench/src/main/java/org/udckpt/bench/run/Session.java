package org.udckpt.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.udckpt.bench.job.BenchPaths;
import org.udckpt.bench.job.ScratchDirectory;
import org.udckpt.bench.job.SessionGroups;
import org.udckpt.bench.measured.Row;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** Makes the measurements of a plan that are not made yet. */
final class Session {
    private final Plan plan;
    private final RunDirectory directory;
    private final Path root;
    private final Duration limit;
    private final Optional<String> device;

    /**
     * @param root of the clone
     * @param limit after which a run counts as hanging
     * @param device a real one; empty: the soft fabric
     */
    Session(Plan plan, RunDirectory directory, Path root, Duration limit, Optional<String> device) {
        this.plan = plan;
        this.directory = directory;
        this.root = root;
        this.limit = limit;
        this.device = device;
    }

    /**
     * Whether all runs that were measured had the right result, but for those whose native run had not, and those of
     * the other checkpointer.
     */
    boolean run() throws IOException, InterruptedException {
        SessionGroups.without();
        Files.createDirectories(directory.work());
        ExperimentRunner laboratory = new ExperimentRunner(
                new BenchPaths(root, directory.work(), ScratchDirectory.create("udckpt-bench"), limit), device);
        List<Trial> trials = plan.trials();
        Progress progress = new Progress(trials);
        for (int i = 0; i < trials.size(); i++) {
            Trial trial = trials.get(i);
            Optional<List<Row>> before = trial.isWarmUp() ? Optional.empty() : directory.finished(trial);
            if (before.isPresent()) {
                laboratory.remember(trial, before.get());
            } else if (!trial.isWarmUp() || isNeeded(trial, trials)) {
                progress.begin(i);
                long start = System.nanoTime();
                List<Row> rows = laboratory.measure(trial);
                if (ScratchDirectory.isEnding()) {
                    throw new Failure(ExitCode.BUSY,
                            "interrupted; --resume " + directory.work().getParent() + " goes on");
                }
                progress.end(i, rows, System.nanoTime() - start);
                if (!trial.isWarmUp()) {
                    directory.finish(trial, rows);
                }
            }
        }
        List<Trial> kept = trials.stream().filter(trial -> !trial.isWarmUp()).toList();
        List<Trial> wrong = new ArrayList<>();
        for (Trial trial : kept) {
            if (directory.finished(trial).orElseThrow().stream()
                    .anyMatch(row -> row instanceof Row.Run run && !run.right())) {
                wrong.add(trial);
            }
        }
        Path file = directory.collect(kept, wrong.isEmpty());
        Messages.info("results: " + file + ", and as CSV beside it; 'udckpt bench report " + file.getParent()
                + "' makes a page of them");
        return wrong.stream().allMatch(trial -> isOfPeer(trial.mode()) || isWrongNatively(trial, wrong));
    }

    private static boolean isOfPeer(Mode mode) {
        return switch (mode) {
            case Mode.Peer _,Mode.PeerRestarted _,Mode.PeerNative _ -> true;
            case Mode.Native _,Mode.Preloaded _,Mode.Every _,Mode.Restarted _ -> false;
        };
    }

    /**
     * Then it is not the library's fault. A native run that is wrong where no other is says nothing of the library
     * either.
     */
    private static boolean isWrongNatively(Trial trial, List<Trial> wrong) {
        return wrong.stream().anyMatch(one -> one.mode() instanceof Mode.Native && one.cell().equals(trial.cell())
                && one.repeat() == trial.repeat());
    }

    /** A warm-up is needed where something of its cell is still to be measured. */
    private boolean isNeeded(Trial warmUp, List<Trial> trials) throws IOException {
        for (Trial trial : trials) {
            if (!trial.isWarmUp() && trial.cell().equals(warmUp.cell()) && directory.finished(trial).isEmpty()) {
                return true;
            }
        }
        return false;
    }
}
