package org.udckpt.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.bench.measured.Row;

/**
 * Runs that did not come to the right result, beside the native ones; and what applications are known for without any
 * checkpointer.
 */
final class WrongSection {
    private WrongSection() {}

    static ReportSection of(Results results) {
        List<List<String>> table = new ArrayList<>();
        table.add(List.of("workload", "mode", "repeat", "what was wrong", "the native run of the same pair"));
        for (Row.Run run : results.wrong()) {
            table.add(List.of(Subject.of(run).title(), run.mode(), Integer.toString(run.repeat()), run.words(),
                    beside(results, run)));
        }
        Set<String> known = new LinkedHashSet<>();
        results.runs().stream().filter(run -> run.known() != null)
                .forEach(run -> known.add(run.workload() + ": " + run.known()));
        List<String> paragraphs = new ArrayList<>();
        paragraphs.add(results.wrong().isEmpty()
                ? "All %d runs came to the right result.".formatted(results.runs().size())
                : "%d of %d runs; they are in no other table. What is wrong natively as well is not the library's."
                        .formatted(results.wrong().size(), results.runs().size()));
        known.forEach(one -> paragraphs.add("Known without any checkpointer: " + one + "."));
        return new ReportSection("Results that are not right", paragraphs, table.size() == 1 ? List.of() : table,
                List.of());
    }

    private static String beside(Results results, Row.Run wrong) {
        return results.runs().stream()
                .filter(run -> run.mode().equals(Results.nativeOf(wrong.mode())) && run.repeat() == wrong.repeat()
                        && Subject.of(run).equals(Subject.of(wrong)))
                .findFirst().map(run -> (run.right() ? "right: " : "wrong as well: ") + run.words()).orElse("none");
    }
}
