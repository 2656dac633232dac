package org.udckpt.cluster.status;

import static org.udckpt.cluster.status.Columns.always;
import static org.udckpt.cluster.status.Columns.gids;
import static org.udckpt.cluster.status.Columns.ints;
import static org.udckpt.cluster.status.Columns.maybe;

import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.Schema;
import org.udckpt.address.Endpoint;
import org.udckpt.address.Gid;
import org.udckpt.address.RankSpan;
import org.udckpt.address.Transport;
import org.udckpt.address.VerbsAddress;

/**
 * Endpoints of ranks as an Arrow table, a row each: {@code transport} by its {@link Transport#code}; no
 * {@code real_}... where there is no real address yet.
 */
public final class EndpointTable {
    private static final Schema SCHEMA = new Schema(List.of(always("rank", Columns.INT),
            always("transport", Columns.INT),
            always("virtual_lid", Columns.INT), always("virtual_gid", Columns.GID), always("virtual_qpn", Columns.INT),
            maybe("real_lid", Columns.INT), maybe("real_gid", Columns.GID), maybe("real_qpn", Columns.INT)));
    private static final String VIRTUAL = "virtual", REAL = "real";

    private EndpointTable() {}

    /** What the caller closes. */
    public static VectorSchemaRoot table(List<Endpoint> endpoints, BufferAllocator allocator) {
        VectorSchemaRoot table = VectorSchemaRoot.create(SCHEMA, allocator);
        for (int row = 0; row < endpoints.size(); row++) {
            Endpoint endpoint = endpoints.get(row);
            ints(table, "rank").setSafe(row, endpoint.rank());
            ints(table, "transport").setSafe(row, endpoint.transport().code());
            put(table, VIRTUAL, row, endpoint.virtual());
            if (endpoint.real() != null) {
                put(table, REAL, row, endpoint.real());
            }
        }
        table.setRowCount(endpoints.size());
        return table;
    }

    /**
     * @param most rows that were asked for
     * @throws IllegalArgumentException if it is no table of this unit's endpoints, or of more
     */
    static List<Endpoint> read(VectorSchemaRoot table, RankSpan unit, int most) {
        Columns.require(table, SCHEMA, most);
        List<Endpoint> endpoints = new ArrayList<>();
        for (int row = 0; row < table.getRowCount(); row++) {
            int rank = ints(table, "rank").get(row);
            if (!unit.owns(rank)) {
                throw new IllegalArgumentException("a table has an endpoint of rank " + rank + ", and is of " + unit);
            }
            boolean real = !ints(table, "real_lid").isNull(row);
            if (real == gids(table, "real_gid").isNull(row) || real == ints(table, "real_qpn").isNull(row)) {
                throw new IllegalArgumentException("a table has half of a real address, of rank " + rank);
            }
            endpoints.add(new Endpoint(rank, get(table, VIRTUAL, row), real ? get(table, REAL, row) : null,
                    Transport.of(ints(table, "transport").get(row))));
        }
        return endpoints;
    }

    private static void put(VectorSchemaRoot table, String side, int row, VerbsAddress address) {
        ints(table, side + "_lid").setSafe(row, address.lid());
        gids(table, side + "_gid").setSafe(row, address.gid().bytes());
        ints(table, side + "_qpn").setSafe(row, address.qpn());
    }

    private static VerbsAddress get(VectorSchemaRoot table, String side, int row) {
        return new VerbsAddress(ints(table, side + "_lid").get(row), Gid.read(gids(table, side + "_gid").get(row), 0),
                ints(table, side + "_qpn").get(row));
    }
}
