package org.udckpt.cluster.status;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.address.Gid;
import org.udckpt.address.RankSpan;
import org.udckpt.fuzz.Fuzzes;

/**
 * Tables of a unit's ranks and endpoints: a subject of six bytes, a number of rows, and for each value a byte that says
 * whether it is there and the value itself. The columns are right: a table with others is refused by Arrow's own
 * comparison.
 */
@Fuzzes({RankStatus.class, TableSubject.class, RankStatusTable.class, EndpointTable.class, Columns.class})
public final class RankTablesFuzz {
    private static final int SUBJECT = 6, MOST = 3, ROWS = 6;
    private static final RankSpan UNIT = new RankSpan(1, 2, 4);

    private RankTablesFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        TableSubject subject;
        try {
            subject = TableSubject.decode(Arrays.copyOf(input, Math.min(SUBJECT, input.length)));
        } catch (IllegalArgumentException e) {
            return; // as promised
        }
        // zeros behind it
        ByteBuffer from = ByteBuffer.wrap(Arrays.copyOfRange(input, SUBJECT, Math.max(SUBJECT, input.length) + 4096));
        try (BufferAllocator allocator = new RootAllocator(); VectorSchemaRoot table = empty(subject, allocator)) {
            int rows = from.get() & 7;
            for (int row = 0; row < Math.min(rows, ROWS); row++) {
                for (FieldVector column : table.getFieldVectors()) {
                    set(column, row, from);
                }
            }
            table.setRowCount(Math.min(rows, ROWS));
            read(subject, table);
        }
    }

    private static VectorSchemaRoot empty(TableSubject subject, BufferAllocator allocator) {
        return switch (subject.kind()) {
            case RANKS -> RankStatusTable.table(List.of(), allocator);
            case ENDPOINTS -> EndpointTable.table(List.of(), allocator);
        };
    }

    private static void set(FieldVector column, int row, ByteBuffer from) {
        boolean there = from.get() != 0;
        switch (column) {
            case IntVector ints when there -> ints.setSafe(row, from.getInt());
            case BigIntVector longs when there -> longs.setSafe(row, from.getLong());
            case BitVector bits when there -> bits.setSafe(row, from.get() & 1);
            case FixedSizeBinaryVector gids when there -> {
                byte[] gid = new byte[Gid.BYTES];
                from.get(gid);
                gids.setSafe(row, gid);
            }
            default -> column.setNull(row);
        }
    }

    private static void read(TableSubject subject, VectorSchemaRoot table) {
        try {
            switch (subject.kind()) {
                case RANKS -> RankStatusTable.read(table, UNIT);
                case ENDPOINTS -> EndpointTable.read(table, UNIT, MOST);
            }
        } catch (IllegalArgumentException e) {
            // as promised
        }
    }
}
