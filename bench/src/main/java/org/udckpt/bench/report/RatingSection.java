package org.udckpt.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.udckpt.bench.measured.Row;

/** What applications say of their own speed: latency, rates. */
final class RatingSection {
    private RatingSection() {}

    static ReportSection of(Results results) {
        List<List<String>> table = new ArrayList<>();
        List<String> modes = new ArrayList<>(List.of(Results.NATIVE));
        modes.addAll(results.modes());
        List<String> header = new ArrayList<>(List.of("workload", "unit"));
        header.addAll(modes);
        table.add(header);
        for (Subject subject : results.subjects()) {
            Optional<Row.Run> rated = results.runs().stream()
                    .filter(run -> Subject.of(run).equals(subject) && run.unit() != null).findFirst();
            if (rated.isPresent()) {
                List<String> row = new ArrayList<>(List.of(subject.title(), rated.get().unit()));
                for (String mode : modes) {
                    List<Double> figures = results.runs(subject, mode).values().stream()
                            .map(run -> run.figureMillionths() / 1e6).toList();
                    row.add(Words.spread(figures, RatingSection::number));
                }
                table.add(row);
            }
        }
        return ReportSection.table("The applications' own ratings", "Median (least..most, runs).", table);
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.4g", value);
    }
}
