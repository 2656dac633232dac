package org.udckpt.bench.report;

import java.util.Arrays;
import java.util.List;
import org.udckpt.bench.plot.Axis;
import org.udckpt.bench.plot.LinePlot;

/** What checkpoints cost the more often they are taken. */
final class IntervalSection {
    private IntervalSection() {}

    static ReportSection of(Results results) {
        List<String> modes = results.modes().stream().filter(mode -> mode.startsWith("every ")).toList();
        double[] seconds = modes.stream().mapToDouble(ModeOrder::seconds).toArray();
        Axis intervals =
                Axis.around("interval, s", true, "%.0f"::formatted, with(seconds, Published.MVAPICH2_INTERVAL));
        LinePlot plot = new LinePlot("Overhead against the interval between checkpoints", intervals,
                new Axis("overhead", false, 0, highest(results, modes), Words::percent));
        int drawn = 0;
        for (Subject subject : results.subjects()) {
            double[] medians = modes.stream().mapToDouble(
                    mode -> results.taken(subject, mode) == 0 ? Double.NaN : median(results.overheads(subject, mode)))
                    .toArray();
            if (Arrays.stream(medians).anyMatch(Double::isFinite)) {
                plot.points(subject.title(), seconds, medians);
                drawn++;
            }
        }
        plot.points("GROMACS, 2006", new double[]{Published.MVAPICH2_INTERVAL},
                new double[]{Published.MVAPICH2_OVERHEAD});
        String text =
                "Medians of the table above, of runs that took a checkpoint at all, those below zero drawn at zero; "
                        + "beside them "
                        + Published.MVAPICH2 + ".";
        return new ReportSection("Overhead against interval", List.of(text), List.of(),
                drawn == 0 ? List.of() : List.of(new ReportSection.Plot("interval", plot.svg())));
    }

    private static double median(List<Double> overheads) {
        return overheads.isEmpty() ? Double.NaN : Math.max(0, Sample.of(overheads).median());
    }

    private static double highest(Results results, List<String> modes) {
        double highest = Published.MVAPICH2_OVERHEAD;
        for (Subject subject : results.subjects()) {
            for (String mode : modes) {
                List<Double> overheads = results.overheads(subject, mode);
                highest = overheads.isEmpty() ? highest : Math.max(highest, Sample.of(overheads).median());
            }
        }
        return highest * 1.1;
    }

    private static double[] with(double[] values, double more) {
        double[] all = Arrays.copyOf(values, values.length + 1);
        all[values.length] = more;
        return all;
    }
}
