package org.udckpt.bench.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.udckpt.bench.measured.Row;
import org.udckpt.bench.model.Quantity;
import org.udckpt.bench.plot.Axis;
import org.udckpt.bench.plot.LinePlot;

/** What checkpoints hold and how long they take. */
final class CheckpointSection {
    private static final String TEXT =
            "Median (least..most, checkpoints). Stop: the rank that stood still the longest. The write goes on beside "
                    + "the job. "
                    + "In the plot also " + Published.PETASCALE
                    + ": another machine and another file system, so only the slope can be compared.";

    private CheckpointSection() {}

    static ReportSection of(Results results) {
        List<List<String>> table = new ArrayList<>();
        table.add(List.of("workload", "memory, MiB", "memory of a rank, MiB", "stored, MiB", "stop, ms", "write, s",
                "rate, MiB/s stored"));
        for (Subject subject : results.subjects()) {
            List<Row.Checkpoint> all = results.checkpoints(subject);
            if (!all.isEmpty()) {
                table.add(List.of(subject.title(), spread(all, Row.Checkpoint::bytes, Words::mebibytes),
                        spread(all, one -> (double) one.bytes() / subject.ranks(), Words::mebibytes),
                        spread(all, Row.Checkpoint::stored, Words::mebibytes),
                        spread(all, Row.Checkpoint::stopNs, Words::milliseconds),
                        spread(all, one -> one.writeNs() / 1e9, Words::seconds),
                        spread(all, one -> one.stored() / (one.writeNs() / 1e9), Words::mebibytes)));
            }
        }
        return ReportSection.table("Checkpoints", TEXT, table,
                new ReportSection.Plot("checkpoint-time", plot(results)));
    }

    private static String spread(List<Row.Checkpoint> all, ToDoubleFunction<Row.Checkpoint> value,
            DoubleFunction<String> word) {
        return Words.spread(all.stream().map(value::applyAsDouble).toList(), word);
    }

    private static String plot(Results results) {
        Map<String, List<Row.Checkpoint>> byWorkload =
                results.subjects().stream().collect(Collectors.groupingBy(Subject::workload, TreeMap::new,
                        Collectors.flatMapping(subject -> results.checkpoints(subject).stream(), Collectors.toList())));
        byWorkload.values().removeIf(List::isEmpty);
        List<Row.Checkpoint> all = byWorkload.values().stream().flatMap(List::stream).toList();
        LinePlot plot = new LinePlot("Checkpoint time against memory",
                Axis.around("memory", true, Quantity::bytes, bytes(all, Published.PETASCALE_BYTES)),
                Axis.around("stop and write", true, Quantity::time, seconds(all, Published.PETASCALE_SECONDS)));
        byWorkload.forEach((workload, some) -> plot.points(workload, bytes(some), seconds(some)));
        return plot.points("32,752 ranks, 2016", new double[]{Published.PETASCALE_BYTES},
                new double[]{Published.PETASCALE_SECONDS}).svg();
    }

    private static double[] bytes(List<Row.Checkpoint> all, double... more) {
        return DoubleStream.concat(all.stream().mapToDouble(Row.Checkpoint::bytes), Arrays.stream(more)).toArray();
    }

    private static double[] seconds(List<Row.Checkpoint> all, double... more) {
        return DoubleStream
                .concat(all.stream().mapToDouble(one -> (one.stopNs() + one.writeNs()) / 1e9), Arrays.stream(more))
                .toArray();
    }
}
