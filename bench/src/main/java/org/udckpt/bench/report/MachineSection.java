package org.udckpt.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.bench.measured.Row;

/** Where it was measured, and with which commands. */
final class MachineSection {
    private MachineSection() {}

    static ReportSection facts(Results results) {
        Set<List<String>> table = new LinkedHashSet<>(List.of(List.of("fact", "value")));
        results.facts().forEach(fact -> table.add(List.of(fact.name(), fact.value())));
        List<Double> loads = results.runs().stream().map(run -> run.loadThousandths() / 1e3).toList();
        String load = loads.isEmpty() ? "" : " Load when a run began: " + Words.spread(loads, Words::seconds) + ".";
        return new ReportSection("The machine", List.of("What was measured shares it with whatever else ran." + load),
                List.copyOf(table), List.of());
    }

    /** The first right run of each kind; DIR is the run's directory, SESSION one for Open MPI's own files. */
    static ReportSection commands(Results results) {
        List<List<String>> table = new ArrayList<>(List.of(List.of("workload", "mode", "command")));
        Set<String> seen = new LinkedHashSet<>();
        for (Row.Run run : results.runs()) {
            if (run.right() && seen.add(Subject.of(run).title() + run.mode())) {
                table.add(List.of(Subject.of(run).title(), run.mode(), run.command()));
            }
        }
        return ReportSection.table("Commands",
                "Programs and inputs: bench/workloads. DIR is the run's directory, SESSION one for Open MPI's own "
                        + "files.",
                table);
    }
}
