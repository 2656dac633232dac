package org.udckpt.bench.run;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.bench.job.Cell;
import org.udckpt.bench.measured.Row;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.Messages;

/** Says which measurement is made, what came of the one before, and how long the rest may take. */
final class Progress {
    private final List<Trial> trials;
    private final Map<Cell, Long> spent = new HashMap<>();
    private final Map<Cell, Integer> made = new HashMap<>();

    Progress(List<Trial> trials) {
        this.trials = trials;
    }

    /** @param number from 0 on */
    void begin(int number) {
        String left = made.isEmpty() ? "" : "; about " + text(left(number)) + " left";
        Messages.info("[%d/%d] %s%s".formatted(number + 1, trials.size(), trials.get(number).title(), left));
    }

    void end(int number, List<Row> rows, long ns) {
        Cell cell = trials.get(number).cell();
        spent.merge(cell, ns, Long::sum);
        made.merge(cell, 1, Integer::sum);
        for (Row row : rows) {
            if (row instanceof Row.Run run) {
                Messages.info("[%d/%d] %s: %s".formatted(number + 1, trials.size(), Durations.format(run.ns()),
                        (run.right() ? "" : "NOT RIGHT: ") + run.words()));
            }
        }
    }

    /** As long as others of the same cell took; of a cell that has not run, as long as all others did. */
    private Duration left(int from) {
        double all = mean(spent.values().stream().mapToLong(Long::longValue).sum(),
                made.values().stream().mapToInt(Integer::intValue).sum());
        double left = 0;
        for (Trial trial : trials.subList(from, trials.size())) {
            left += made.containsKey(trial.cell()) ? mean(spent.get(trial.cell()), made.get(trial.cell())) : all;
        }
        return Duration.ofNanos(Math.round(left));
    }

    private static double mean(long sum, int count) {
        return (double) sum / count;
    }

    private static String text(Duration time) {
        return time.toSeconds() < 90 ? time.toSeconds() + " s" : Math.round(time.toSeconds() / 60.0) + " min";
    }
}
