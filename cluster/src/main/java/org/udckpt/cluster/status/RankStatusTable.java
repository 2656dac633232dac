package org.udckpt.cluster.status;

import static org.udckpt.cluster.status.Columns.always;
import static org.udckpt.cluster.status.Columns.bools;
import static org.udckpt.cluster.status.Columns.ints;
import static org.udckpt.cluster.status.Columns.longs;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.udckpt.address.CountersFile.Counters;
import org.udckpt.address.RankSpan;

/** {@link RankStatusRow}s as an Arrow table, a row each. */
public final class RankStatusTable {
    /** As in {@code status --json}, in the order of {@link Counters}. */
    private static final List<String> COUNTERS = List.of("ud_sends", "ud_rewrites", "ud_receives", "ud_translations",
            "cache_misses", "table_misses", "unknown_peers", "ah_created",
            "rc_sends", "refused");
    private static final Schema SCHEMA = schema();
    /** Processes below a rank have numbers of their own, and a unit of one rank may have many. */
    static final int MOST = 1 << 16;

    private RankStatusTable() {}

    private static Schema schema() {
        List<Field> fields = new ArrayList<>(List.of(always("rank", Columns.INT), always("mpi_rank", Columns.INT),
                always("pid", Columns.INT), always("alive", Columns.BOOL),
                always("endpoints", Columns.INT)));
        COUNTERS.forEach(name -> fields.add(always(name, Columns.LONG)));
        return new Schema(fields);
    }

    /** What the caller closes. @param ranks at most {@link #MOST} */
    public static VectorSchemaRoot table(List<RankStatusRow> ranks, BufferAllocator allocator) {
        VectorSchemaRoot table = VectorSchemaRoot.create(SCHEMA, allocator);
        for (int row = 0; row < ranks.size(); row++) {
            RankStatusRow rank = ranks.get(row);
            ints(table, "rank").setSafe(row, rank.number());
            ints(table, "mpi_rank").setSafe(row, rank.mpiRank());
            ints(table, "pid").setSafe(row, rank.pid());
            bools(table, "alive").setSafe(row, rank.alive() ? 1 : 0);
            ints(table, "endpoints").setSafe(row, rank.endpoints());
            long[] counters = values(rank.counters());
            for (int counter = 0; counter < counters.length; counter++) {
                longs(table, COUNTERS.get(counter)).setSafe(row, counters[counter]);
            }
        }
        table.setRowCount(ranks.size());
        return table;
    }

    /** @throws IllegalArgumentException if it is no table of this unit's ranks */
    static List<RankStatusRow> read(VectorSchemaRoot table, RankSpan unit) {
        Columns.require(table, SCHEMA, MOST);
        List<RankStatusRow> ranks = new ArrayList<>();
        Set<Integer> numbers = new HashSet<>();
        for (int row = 0; row < table.getRowCount(); row++) {
            int number = ints(table, "rank").get(row);
            if (!unit.owns(number) || !numbers.add(number)) {
                throw new IllegalArgumentException(
                        "a table has rank " + number + (unit.owns(number) ? " twice" : ", and is of " + unit));
            }
            long[] counters = new long[COUNTERS.size()];
            for (int counter = 0; counter < counters.length; counter++) {
                counters[counter] = longs(table, COUNTERS.get(counter)).get(row);
            }
            ranks.add(new RankStatusRow(number, ints(table, "mpi_rank").get(row), ints(table, "pid").get(row),
                    bools(table, "alive").get(row) != 0, ints(table, "endpoints").get(row),
                    counters(counters)));
        }
        return ranks;
    }

    private static long[] values(Counters c) {
        return new long[]{c.udSends(), c.udRewrites(), c.udReceives(), c.udTranslations(), c.cacheMisses(),
                c.tableMisses(), c.unknownPeers(), c.addressHandles(), c.rcSends(), c.refused()};
    }

    private static Counters counters(long[] c) {
        return new Counters(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9]);
    }
}
