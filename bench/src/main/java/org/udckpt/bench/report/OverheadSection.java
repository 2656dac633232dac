package org.udckpt.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.udckpt.bench.measured.Row;
import org.udckpt.bench.plot.BarPlot;
import org.udckpt.bench.plot.BarPlot.Bar;

/** How much longer applications run with the library and with checkpoints. */
final class OverheadSection {
    private static final String TEXT =
            "Run time against the native run of the same pair (where the application rates itself, by its rating, and "
                    + "then by the clock): median (least..most, pairs). "
                    + "Native is the same soft fabric without virtualization, under udckpt run; on a real device, the "
                    + "MPI library's own launcher without udckpt; DMTCP's runs are compared with those over TCP. "
                    + "In square brackets: checkpoints that such a run took, in the median; 0: it ended before the "
                    + "first was due. "
                    + "Published: " + Published.PETASCALE + "; " + Published.MVAPICH2 + ".";

    private static final String PRELOADED = "preloaded";

    private OverheadSection() {}

    static ReportSection of(Results results) {
        List<String> modes = List.copyOf(results.modes());
        List<List<String>> table = new ArrayList<>();
        boolean hasPeer = results.runs().stream().anyMatch(run -> run.mode().equals(Results.PEER_NATIVE));
        List<String> header = new ArrayList<>(hasPeer ? List.of("workload", "native, s", Results.PEER_NATIVE + ", s")
                : List.of("workload", "native, s"));
        header.addAll(modes);
        table.add(header);
        BarPlot plot = new BarPlot("Run-time overhead against native", "overhead; the line is the spread", false, modes,
                Words::percent);
        plot.reference("less than 1%, 2016", Published.PETASCALE_OVERHEAD);
        for (Subject subject : results.subjects()) {
            List<String> row = new ArrayList<>(List.of(subject.title(),
                    Words.spread(seconds(results.runs(subject, Results.NATIVE)), Words::seconds)));
            if (hasPeer) {
                row.add(Words.spread(seconds(results.runs(subject, Results.PEER_NATIVE)), Words::seconds));
            }
            List<Bar> bars = new ArrayList<>();
            for (String mode : modes) {
                List<Double> overheads = results.overheads(subject, mode);
                row.add(Words.spread(overheads, Words::percent) + clock(results.overheadsOfTime(subject, mode))
                        + taken(results, subject, mode));
                bars.add(overheads.isEmpty() ? null : bar(Sample.of(overheads)));
            }
            table.add(row);
            plot.row(subject.title(), bars);
        }
        List<String> paragraphs = new ArrayList<>(List.of(TEXT));
        paragraphs.addAll(together(results));
        return new ReportSection("Run-time overhead", paragraphs, table,
                List.of(new ReportSection.Plot("overhead", plot.svg())));
    }

    /**
     * Applications of which there are several kinds ({@code npb:cg.A}), without checkpoints: single pairs of short runs
     * scatter, and so do the medians of few of them.
     */
    private static List<String> together(Results results) {
        Map<String,
                List<Subject>> families =
                        results.subjects().stream().filter(subject -> subject.workload().contains(":"))
                                .collect(
                                        Collectors.groupingBy(
                                                subject -> subject.workload().substring(0,
                                                        subject.workload().indexOf(':')) + ", " + subject.transport(),
                                                TreeMap::new, Collectors.toList()));
        List<String> lines = new ArrayList<>();
        families.forEach((family, subjects) -> {
            List<Double> overheads =
                    subjects.stream().flatMap(subject -> results.overheads(subject, PRELOADED).stream()).toList();
            List<Double> times =
                    subjects.stream().flatMap(subject -> results.overheadsOfTime(subject, PRELOADED).stream()).toList();
            if (subjects.stream().map(Subject::workload).distinct().count() > 1 && !overheads.isEmpty()) {
                lines.add("All pairs of " + family + ", " + PRELOADED + ": " + Words.spread(overheads, Words::percent)
                        + clock(times) + ".");
            }
        });
        return lines;
    }

    private static List<Double> seconds(Map<Integer, Row.Run> runs) {
        return runs.values().stream().map(run -> run.ns() / 1e9).toList();
    }

    private static String clock(List<Double> overheads) {
        return overheads.isEmpty() ? "" : "; by the clock " + Words.percent(Sample.of(overheads).median());
    }

    private static String taken(Results results, Subject subject, String mode) {
        return results.runs(subject, mode).isEmpty() || !mode.startsWith("every ") ? ""
                : " [%.0f]".formatted(results.taken(subject, mode));
    }

    private static Bar bar(Sample sample) {
        return new Bar(sample.median(), sample.min(), sample.max());
    }
}
