package org.udckpt.bench.application;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.job.BenchPaths;
import org.udckpt.bench.job.Cell;
import org.udckpt.bench.job.EndedTooEarly;
import org.udckpt.bench.job.Trees;
import org.udckpt.bench.workload.Judgement;

/** Runs a cell in the ways that are asked for, and keeps what was found. */
final class Trials {
    private static final int ATTEMPTS = 4;
    // of the undisturbed run's time: the checkpoints are at a quarter and at half of it
    private static final double FIRST_DELAY = 0.25;
    private final BenchPaths place;
    private final TrialVerdicts verdicts;

    Trials(BenchPaths place) {
        this.place = place;
        verdicts = new TrialVerdicts(place.results());
    }

    /** Gives the verdict, which is kept as well; a run that failed leaves its directory. */
    TrialVerdict run(Cell cell, TrialMode way) throws IOException, InterruptedException {
        try (FileChannel _ = verdicts.lock(cell)) {
            TrialVerdict verdict = switch (way) {
                case PLAIN -> plain(cell);
                case CHECKPOINT, RESTART -> disturbed(cell, way);
            };
            verdicts.keep(cell, way, verdict);
            return verdict;
        }
    }

    private TrialVerdict plain(Cell cell) throws IOException, InterruptedException {
        try {
            Undisturbed run = runUndisturbed(cell);
            Judgement judgement = cell.workload().answer().alone(run.run());
            return new TrialVerdict(judgement.isRight(), judgement.words(), run.seconds(), List.of());
        } catch (BenchFailure e) {
            return failed(e);
        }
    }

    private Undisturbed runUndisturbed(Cell cell) throws IOException, InterruptedException {
        verdicts.forget(cell);
        Path directory = fresh(cell, TrialMode.PLAIN);
        try (CellRun run = new CellRun(cell, place, directory)) {
            Undisturbed undisturbed = run.undisturbed();
            if (cell.workload().answer().alone(undisturbed.run()).isRight()) {
                undisturbed.keep(Fingerprint.of(cell));
            }
            return undisturbed;
        }
    }

    private TrialVerdict disturbed(Cell cell, TrialMode way) throws IOException, InterruptedException {
        try {
            Optional<Undisturbed> kept = verdicts.undisturbed(cell);
            Undisturbed undisturbed = kept.isPresent() ? kept.get() : runUndisturbed(cell);
            Judgement judgement = cell.workload().answer().alone(undisturbed.run());
            if (!judgement.isRight()) {
                return new TrialVerdict(false, "the undisturbed run: " + judgement.words(), undisturbed.seconds(),
                        List.of());
            }
            return disturbed(cell, way, undisturbed);
        } catch (BenchFailure e) {
            return failed(e);
        }
    }

    private TrialVerdict disturbed(Cell cell, TrialMode way, Undisturbed undisturbed)
            throws IOException, InterruptedException {
        double delay = undisturbed.seconds() * FIRST_DELAY;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++, delay /= 2) {
            Path directory = fresh(cell, way);
            try (CellRun run = new CellRun(cell, place, directory)) {
                Duration wait = Duration.ofMillis(Math.round(delay * 1000));
                TrialVerdict verdict = way == TrialMode.CHECKPOINT ? run.checkpoints(undisturbed, wait)
                        : run.restarts(undisturbed, wait);
                if (verdict.passed()) {
                    Trees.remove(directory);
                }
                return verdict;
            } catch (EndedTooEarly e) {
                // once more, with checkpoints that come sooner
            }
        }
        return new TrialVerdict(false,
                "it ended before its last checkpoint, " + ATTEMPTS + " times: make its input larger",
                undisturbed.seconds(), List.of());
    }

    /** Without the paths of this machine, for the verdict may be published. */
    private TrialVerdict failed(BenchFailure failure) {
        String words = failure.getMessage().replace(place.results() + "/", "").replace(place.root() + "/", "");
        return new TrialVerdict(false, words, 0, List.of());
    }

    private Path fresh(Cell cell, TrialMode way) throws IOException {
        Path directory = verdicts.run(cell, way);
        Trees.remove(directory);
        return Files.createDirectories(directory);
    }
}
