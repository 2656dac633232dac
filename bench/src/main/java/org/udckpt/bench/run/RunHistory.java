package org.udckpt.bench.run;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.udckpt.bench.job.Cell;
import org.udckpt.bench.measured.Row;
import org.udckpt.bench.workload.Answer;

/** What earlier measurements of a run have shown: how long a cell runs, and what its result is. */
final class RunHistory {
    private final Map<Cell, Long> shortest = new HashMap<>();
    private final Map<Cell, Answer.Run> natives = new HashMap<>();

    void learn(Trial trial, List<Row> rows) {
        for (Row row : rows) {
            if (row instanceof Row.Run run && run.right()) {
                shortest.merge(trial.cell(), run.ns(), Math::min);
            }
        }
    }

    /** A native run that ended well; the first one counts. */
    void learn(Cell cell, Answer.Run left) {
        natives.putIfAbsent(cell, left);
    }

    /** With what the result of another run of the cell is to be compared; its directory is still there. */
    Optional<Answer.Run> result(Cell cell) {
        return Optional.ofNullable(natives.get(cell));
    }

    /** How long it ran at least; empty: it has not run yet. */
    Optional<Duration> shortest(Cell cell) {
        return Optional.ofNullable(shortest.get(cell)).map(Duration::ofNanos);
    }
}
