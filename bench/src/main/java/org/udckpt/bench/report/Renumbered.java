package org.udckpt.bench.report;

import java.util.List;
import org.udckpt.bench.measured.Row;

/** Rows of several files together: pairs and trials of one are not those of another. */
final class Renumbered {
    private static final int REPEATS = 1_000_000; // more than one run has

    private Renumbered() {}

    /** @param file its number, from 0 on: the first stays as it is */
    static List<Row> of(List<Row> rows, int file) {
        return file == 0 ? rows : rows.stream().map(row -> of(row, file)).toList();
    }

    private static Row of(Row row, int file) {
        return switch (row) {
            case Row.Fact fact -> new Row.Fact(fact.name() + " (" + (file + 1) + ")", fact.value());
            case Row.Run run -> new Row.Run(trial(run.trial(), file), run.workload(), run.ranks(), run.launcher(),
                    run.transport(), run.mode(),
                    run.repeat() + file * REPEATS, run.ns(), run.unit(), run.isRate(), run.figureMillionths(),
                    run.right(), run.words(), run.known(),
                    run.loadThousandths(), run.command());
            case Row.Checkpoint one -> new Row.Checkpoint(trial(one.trial(), file), one.checkpoint(), one.bytes(),
                    one.stored(), one.stopNs(), one.medianStopNs(), one.writeNs());
            case Row.Phase one -> new Row.Phase(trial(one.trial(), file), one.checkpoint(), one.phase(), one.ns());
            case Row.Restart one -> new Row.Restart(trial(one.trial(), file), one.checkpoint(), one.ns(), one.bytes());
        };
    }

    private static String trial(String trial, int file) {
        return file + 1 + "/" + trial;
    }
}
