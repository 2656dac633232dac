package org.udckpt.bench.report;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.bench.measured.Row;

/** How soon jobs run again. */
final class RestartSection {
    private RestartSection() {}

    static ReportSection of(Results results) {
        List<List<String>> table = new ArrayList<>();
        table.add(List.of("workload", "until the ranks run, s", "memory of the image, MiB"));
        for (Subject subject : results.subjects()) {
            List<Row.Restart> all = results.restarts(subject);
            if (!all.isEmpty()) {
                table.add(List.of(subject.title(),
                        Words.spread(all.stream().map(one -> one.ns() / 1e9).toList(), Words::seconds),
                        Words.spread(all.stream().map(one -> (double) one.bytes()).toList(), Words::mebibytes)));
            }
        }
        return ReportSection.table("Restarts",
                "From before the start of `udckpt restart` until it says that the ranks run, on other addresses, "
                        + "after a kill -9 of all of them; "
                        + "their results are those of a native run, or they are listed below. Median (least..most, "
                        + "restarts). "
                        + "What of the memory still comes in later is not in the time.",
                table);
    }
}
