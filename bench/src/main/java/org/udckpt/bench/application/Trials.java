package org.udckpt.bench.application;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.udckpt.bench.DemoFailure;
import org.udckpt.bench.life.Cell;
import org.udckpt.bench.life.Ended;
import org.udckpt.bench.life.Place;
import org.udckpt.bench.life.Trees;
import org.udckpt.bench.workload.Judgement;

/** Runs a cell in the ways that are asked for, and keeps what was found. */
final class Trials {
    private static final int ATTEMPTS = 4;
    private static final double FIRST_PATIENCE = 0.25; // of the undisturbed run's time: the checkpoints are at a quarter and at half of it
    private final Place place;
    private final Verdicts verdicts;

    Trials(Place place) {
        this.place = place;
        verdicts = new Verdicts(place.results());
    }

    /** Gives the verdict, which is kept as well; a run that failed leaves its directory. */
    Verdict run(Cell cell, Way way) throws IOException, InterruptedException {
        try (FileChannel _ = verdicts.lock(cell)) {
            Verdict verdict = switch (way) {
                case PLAIN -> plain(cell);
                case CHECKPOINT, RESTART -> disturbed(cell, way);
            };
            verdicts.keep(cell, way, verdict);
            return verdict;
        }
    }

    private Verdict plain(Cell cell) throws IOException, InterruptedException {
        try {
            Undisturbed run = runUndisturbed(cell);
            Judgement judgement = cell.workload().answer().alone(run.run());
            return new Verdict(judgement.isRight(), judgement.words(), run.seconds(), List.of());
        } catch (DemoFailure e) {
            return failed(e);
        }
    }

    private Undisturbed runUndisturbed(Cell cell) throws IOException, InterruptedException {
        verdicts.forget(cell);
        Path directory = fresh(cell, Way.PLAIN);
        try (CellRun run = new CellRun(cell, place, directory)) {
            Undisturbed undisturbed = run.undisturbed();
            if (cell.workload().answer().alone(undisturbed.run()).isRight()) {
                undisturbed.keep(Fingerprint.of(cell));
            }
            return undisturbed;
        }
    }

    private Verdict disturbed(Cell cell, Way way) throws IOException, InterruptedException {
        try {
            Optional<Undisturbed> kept = verdicts.undisturbed(cell);
            Undisturbed undisturbed = kept.isPresent() ? kept.get() : runUndisturbed(cell);
            Judgement judgement = cell.workload().answer().alone(undisturbed.run());
            if (!judgement.isRight()) {
                return new Verdict(false, "the undisturbed run: " + judgement.words(), undisturbed.seconds(), List.of());
            }
            return disturbed(cell, way, undisturbed);
        } catch (DemoFailure e) {
            return failed(e);
        }
    }

    private Verdict disturbed(Cell cell, Way way, Undisturbed undisturbed) throws IOException, InterruptedException {
        double patience = undisturbed.seconds() * FIRST_PATIENCE;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++, patience /= 2) {
            Path directory = fresh(cell, way);
            try (CellRun run = new CellRun(cell, place, directory)) {
                Duration wait = Duration.ofMillis(Math.round(patience * 1000));
                Verdict verdict = way == Way.CHECKPOINT ? run.checkpoints(undisturbed, wait) : run.restarts(undisturbed, wait);
                if (verdict.passed()) {
                    Trees.remove(directory);
                }
                return verdict;
            } catch (Ended e) {
                // once more, with checkpoints that come sooner
            }
        }
        return new Verdict(false, "it ended before its last checkpoint, " + ATTEMPTS + " times: make its input larger", undisturbed.seconds(), List.of());
    }

    /** Without the paths of this machine, for the verdict may be published. */
    private Verdict failed(DemoFailure failure) {
        String words = failure.getMessage().replace(place.results() + "/", "").replace(place.root() + "/", "");
        return new Verdict(false, words, 0, List.of());
    }

    private Path fresh(Cell cell, Way way) throws IOException {
        Path directory = verdicts.run(cell, way);
        Trees.remove(directory);
        return Files.createDirectories(directory);
    }
}
