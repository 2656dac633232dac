package org.udckpt.address;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a restart did to the addresses.
 *
 * @param rows one for each endpoint that the old incarnation had, by rank and virtual address
 */
public record RemapReport(List<Row> rows) {
    /**
     * @param rank     its owner
     * @param virtual  what the job calls it, before and after
     * @param before   real address in the old incarnation; null if it had none
     * @param now      real address in the new incarnation; null if it has not (yet) been registered
     */
    public record Row(int rank, VerbsAddress virtual, VerbsAddress before, VerbsAddress now) {}

    public RemapReport {
        rows = List.copyOf(rows);
    }

    public static RemapReport of(List<Endpoint> before, List<Endpoint> now) {
        Map<Long, Endpoint> byVirtual = new HashMap<>();
        now.forEach(endpoint -> byVirtual.put(endpoint.virtual().key(), endpoint));
        List<Row> rows = new ArrayList<>();
        for (Endpoint old : before) {
            Endpoint endpoint = byVirtual.get(old.virtual().key());
            rows.add(new Row(old.rank(), old.virtual(), old.real(), endpoint == null ? null : endpoint.real()));
        }
        return new RemapReport(rows);
    }

    /** True when no endpoint kept its real LID or its real QPN. */
    public boolean allMoved() {
        return rows.stream().allMatch(row -> row.before != null && row.now != null
                && row.before.lid() != row.now.lid() && row.before.qpn() != row.now.qpn());
    }

    /** A text table, one line a row. */
    @Override
    public String toString() {
        StringBuilder text =
                new StringBuilder("%4s  %-24s  %-24s  %s%n".formatted("rank", "the job sees", "was", "is"));
        for (Row row : rows) {
            text.append("%4d  %-24s  %-24s  %s%n".formatted(row.rank, row.virtual,
                    row.before == null ? "-" : row.before, row.now == null ? "-" : row.now));
        }
        return text.toString();
    }
}
