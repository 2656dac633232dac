package org.udckpt.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.udckpt.bench.measured.Row;
import org.udckpt.bench.model.Costs;
import org.udckpt.bench.model.ModelWorkload;
import org.udckpt.bench.model.Prediction;
import org.udckpt.bench.model.Storage;

/** What {@code udckpt bench model} says of the jobs that were measured, beside what was. */
final class ModelSection {
    /**
     * Bytes a second that one processor hashes by SHA-256 (results/image.txt): where ranks poll on all of them, that is
     * what a node writes.
     */
    private static final double NODE_RATE = 0.55e9;
    private static final double A_YEAR = 365.25 * 86_400;
    private static final String TEXT =
            "Medians of the checkpoints above, and what `udckpt bench model` computes from ranks, memory and stored "
                    + "part (docs/operator/capacity.md), for a node that writes 0.55 GB/s: what one "
                    + "processor hashes, since ranks poll on all of them. The cost of a checkpoint is what a run with "
                    + "them took longer than its native one, divided by their number, in the median of the pairs; "
                    + "where "
                    + "runs scatter by more than that, it says little, and can be negative.";

    private ModelSection() {}

    /** What was measured of a workload, and the model's; seconds. */
    record Comparison(Subject subject, double stop, double modelStop, double write, double modelWrite,
            List<Double> costs, double modelCost) {}

    static List<Comparison> compare(Results results) {
        List<Comparison> all = new ArrayList<>();
        for (Subject subject : results.subjects()) {
            List<Row.Checkpoint> checkpoints = results.checkpoints(subject);
            if (checkpoints.isEmpty()) {
                continue;
            }
            double bytes = median(checkpoints, Row.Checkpoint::bytes);
            double stored = Math.min(1, median(checkpoints, Row.Checkpoint::stored) / bytes);
            Prediction model =
                    Prediction.of(new ModelWorkload(subject.ranks(), subject.ranks(), bytes / subject.ranks(), stored),
                            new Storage(NODE_RATE, Double.POSITIVE_INFINITY), null,
                            Costs.USUAL, A_YEAR);
            all.add(new Comparison(subject, median(checkpoints, Row.Checkpoint::stopNs) / 1e9, model.stop(),
                    median(checkpoints, Row.Checkpoint::writeNs) / 1e9, model.write(),
                    costs(results, subject), model.cost()));
        }
        return all;
    }

    /** Seconds per checkpoint, of each pair with periodic checkpoints, by the clock. */
    private static List<Double> costs(Results results, Subject subject) {
        List<Double> costs = new ArrayList<>();
        for (String mode : results.modes().stream().filter(each -> each.startsWith("every ")).toList()) {
            results.runs(subject, mode).forEach((repeat, run) -> {
                Row.Run pair = results.runs(subject, Results.NATIVE).get(repeat);
                int taken = results.checkpoints(run).size();
                if (pair != null && taken > 0) {
                    costs.add((run.ns() - pair.ns()) / 1e9 / taken);
                }
            });
        }
        return costs;
    }

    static ReportSection of(Results results) {
        List<List<String>> table = new ArrayList<>();
        table.add(List.of("workload", "stop, ms", "model", "write, s", "model", "cost of a checkpoint, s", "model"));
        for (Comparison one : compare(results)) {
            table.add(List.of(one.subject.title(), number(one.stop * 1e3, 1), number(one.modelStop * 1e3, 1),
                    number(one.write, 2), number(one.modelWrite, 2),
                    one.costs.isEmpty() ? "-" : Words.spread(one.costs, value -> number(value, 2)),
                    number(one.modelCost, 2)));
        }
        return ReportSection.table("Against the model", TEXT, table);
    }

    private static double median(List<Row.Checkpoint> checkpoints,
            java.util.function.ToLongFunction<Row.Checkpoint> value) {
        return Sample.of(checkpoints.stream().map(one -> (double) value.applyAsLong(one)).toList()).median();
    }

    private static String number(double value, int digits) {
        return String.format(Locale.ROOT, "%." + digits + "f", value);
    }
}
