package org.udckpt.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.udckpt.bench.measured.Row;
import org.udckpt.bench.plot.BarPlot;
import org.udckpt.bench.plot.BarPlot.Bar;
import org.udckpt.image.write.Phase;

/** Where the time goes for which a job stands still. */
final class StopSection {
    /** Phases of a whole job: the wait of one node for others is a part of theirs. */
    private static final List<String> PHASES =
            Stream.of(Phase.values()).filter(phase -> phase.stops() && phase != Phase.WAIT)
                    .map(phase -> phase.name().toLowerCase(Locale.ROOT)).toList();

    private StopSection() {}

    static ReportSection of(Results results) {
        List<List<String>> table = new ArrayList<>();
        List<String> header = new ArrayList<>(List.of("workload"));
        PHASES.forEach(phase -> header.add(phase + ", ms"));
        table.add(header);
        BarPlot plot =
                new BarPlot("A stop by its phases (medians)", "ms", true, PHASES, value -> "%.0f".formatted(value));
        for (Subject subject : results.subjects()) {
            List<Row.Checkpoint> all = results.checkpoints(subject);
            if (!all.isEmpty()) {
                List<Map<String, Long>> phases = all.stream().map(results::phases).toList();
                List<List<Double>> times = PHASES.stream()
                        .map(phase -> phases.stream().map(one -> (double) one.getOrDefault(phase, 0L)).toList())
                        .toList();
                List<String> row = new ArrayList<>(List.of(subject.title()));
                times.forEach(one -> row.add(Words.spread(one, Words::milliseconds)));
                table.add(row);
                plot.row(subject.title(), times.stream().map(one -> Bar.of(Sample.of(one).median() / 1e6)).toList());
            }
        }
        return ReportSection.table("Stop by phase",
                "Of a phase that each rank has for itself the slowest rank's: median (least..most, checkpoints). "
                        + "They overlap a little, so their sum can be more than the stop.",
                table, new ReportSection.Plot("stop-phases", plot.svg()));
    }
}
