package org.udckpt.cluster.status;

import java.util.stream.Collectors;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.udckpt.address.Gid;

/** The kinds of columns that the tables have. */
final class Columns {
    static final ArrowType INT = new ArrowType.Int(32, true);
    static final ArrowType LONG = new ArrowType.Int(64, true);
    static final ArrowType BOOL = ArrowType.Bool.INSTANCE;
    static final ArrowType GID = new ArrowType.FixedSizeBinary(Gid.BYTES);

    private Columns() {}

    static Field always(String name, ArrowType type) {
        return Field.notNullable(name, type);
    }

    static Field maybe(String name, ArrowType type) {
        return Field.nullable(name, type);
    }

    /**
     * @throws IllegalArgumentException if a table that came has other columns, more rows, or nothing where there has to
     *     be something
     */
    static void require(VectorSchemaRoot table, Schema schema, int mostRows) {
        if (!table.getSchema().getFields().equals(schema.getFields())) {
            String names = schema.getFields().stream().map(Field::getName).collect(Collectors.joining(", "));
            throw new IllegalArgumentException("a table of " + table.getSchema().getFields().size()
                    + " columns instead of " + names + " columns of this version's types");
        }
        if (table.getRowCount() > mostRows) {
            throw new IllegalArgumentException("a table has " + table.getRowCount() + " rows, more than " + mostRows);
        }
        table.getFieldVectors().forEach(column -> {
            if (column.getValueCount() != table.getRowCount()
                    || !column.getField().isNullable() && column.getNullCount() > 0) {
                throw new IllegalArgumentException("column " + column.getName() + " has " + column.getValueCount()
                        + " values, " + column.getNullCount() + " of them missing, for "
                        + table.getRowCount() + " rows");
            }
        });
    }

    static IntVector ints(VectorSchemaRoot rows, String name) {
        return (IntVector) rows.getVector(name);
    }

    static BigIntVector longs(VectorSchemaRoot rows, String name) {
        return (BigIntVector) rows.getVector(name);
    }

    static BitVector bools(VectorSchemaRoot rows, String name) {
        return (BitVector) rows.getVector(name);
    }

    static FixedSizeBinaryVector gids(VectorSchemaRoot rows, String name) {
        return (FixedSizeBinaryVector) rows.getVector(name);
    }
}
