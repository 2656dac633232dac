package org.udckpt.bench.report;

import org.udckpt.bench.measured.Row;

/** What was measured in several modes: runs of it can be compared. */
record Subject(String workload, int ranks, String launcher, String transport) {
    static Subject of(Row.Run run) {
        return new Subject(run.workload(), run.ranks(), run.launcher(), run.transport());
    }

    String title() {
        return "%s, %d ranks, %s, %s".formatted(workload, ranks, launcher, transport);
    }
}
