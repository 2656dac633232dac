package org.udckpt.image.table;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.IntVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.arrow.vector.types.pojo.Schema;
import org.udckpt.image.PlainRow;
import org.udckpt.linux.RawText;

/** Writes records as an Arrow IPC file with Arrow's own writer. */
final class ArrowEncoder {
    private static final int BATCH_ROWS = 1 << 16;
    /** A batch is closed when its values reach this: offsets within a column are 32 bits wide. */
    private static final long BATCH_BYTES = 64L << 20;

    private final RecordSchema schema;

    ArrowEncoder(RecordSchema schema) {
        this.schema = schema;
    }

    void write(List<?> rows, WritableByteChannel out) throws IOException {
        try (RootAllocator allocator = new RootAllocator(4 * RecordTable.MAX_BYTES);
                VectorSchemaRoot root = VectorSchemaRoot.create(arrowSchema(), allocator);
                ArrowFileWriter writer = new ArrowFileWriter(root, null, out)) {
            writer.start();
            boolean plain = PlainRow.class.isAssignableFrom(schema.type);
            int row = 0;
            while (row < rows.size()) {
                int count = plain ? fillPlain(root, plain(rows, row)) : fill(root, rows, row);
                root.setRowCount(count);
                writer.writeBatch();
                if (writer.bytesWritten() > RecordTable.MAX_BYTES) {
                    throw new IllegalArgumentException("a table of " + schema.type.getName() + " exceeds "
                            + RecordTable.MAX_BYTES + " bytes: store large contents as memory, not in a table");
                }
                root.clear();
                row += count;
            }
            writer.end();
        }
    }

    private static List<PlainRow> plain(List<?> rows, int first) {
        List<?> some = rows.subList(first, Math.min(rows.size(), first + BATCH_ROWS));
        return some.stream().map(PlainRow.class::cast).toList();
    }

    private Schema arrowSchema() {
        return new Schema(schema.columns.stream().map(ArrowEncoder::field).toList(),
                Map.of("udckpt.record", schema.type.getSimpleName()));
    }

    private static Field field(RecordSchema.Column column) {
        FieldType type = new FieldType(column.nullable(), column.type().arrow, null);
        ColumnType element = column.type().element();
        return new Field(column.name(), type, element == null ? null
                : List.of(new Field(ListVector.DATA_VECTOR_NAME, new FieldType(false, element.arrow, null), null)));
    }

    /** Fills one batch from row {@code first} on; returns its number of rows. */
    private int fill(VectorSchemaRoot root, List<?> rows, int first) {
        root.allocateNew();
        long bytes = 0;
        int row = 0;
        while (row < BATCH_ROWS && first + row < rows.size() && bytes < BATCH_BYTES) {
            bytes += put(root, row, rows.get(first + row));
            row++;
        }
        return row;
    }

    private long put(VectorSchemaRoot root, int row, Object record) {
        RecordShape shape = schema.shapes.get(record.getClass().getSimpleName());
        if (shape == null || !schema.type.isInstance(record)) {
            throw new IllegalArgumentException(record.getClass().getName() + " in a table of " + schema.type.getName());
        }
        long bytes = 0;
        if (schema.union) {
            bytes += set(root.getVector(0), ColumnType.STRING, row, shape.kind());
        }
        // Columns that this kind does not have stay null: setRowCount fills them up.
        for (int i = 0; i < shape.columns.length; i++) {
            int column = shape.columns[i];
            Object value = shape.component(record, i);
            if (value != null) {
                bytes += set(root.getVector(column), schema.columns.get(column).type(), row, value);
            }
        }
        return bytes;
    }

    /** Fills a batch column by column. */
    private int fillPlain(VectorSchemaRoot root, List<PlainRow> rows) {
        for (int column = 0; column < schema.columns.size(); column++) {
            ColumnType type = schema.columns.get(column).type();
            FieldVector vector = root.getVector(column);
            vector.setInitialCapacity(rows.size());
            vector.allocateNew();
            for (int row = 0; row < rows.size(); row++) {
                switch (type) {
                    case INT -> ((IntVector) vector).set(row, (int) rows.get(row).number(column));
                    case LONG -> ((BigIntVector) vector).set(row, rows.get(row).number(column));
                    default -> {
                        Object value = rows.get(row).other(column);
                        if (value != null) {
                            set(vector, type, row, value);
                        }
                    }
                }
            }
        }
        return rows.size();
    }

    /** Stores a value that is not null; returns its size in bytes. */
    private static long set(FieldVector vector, ColumnType type, int row, Object value) {
        switch (type) {
            case INT -> ((IntVector) vector).setSafe(row, (int) value);
            case LONG -> ((BigIntVector) vector).setSafe(row, (long) value);
            case BOOLEAN -> ((BitVector) vector).setSafe(row, (boolean) value ? 1 : 0);
            case STRING -> {
                return setText((VarCharVector) vector, row, (String) value);
            }
            case ENUM -> {
                byte[] name = ((Enum<?>) value).name().getBytes(StandardCharsets.UTF_8);
                ((VarCharVector) vector).setSafe(row, name);
                return name.length;
            }
            case BYTES -> {
                byte[] bytes = (byte[]) value;
                ((VarBinaryVector) vector).setSafe(row, bytes);
                return bytes.length;
            }
            case INTS -> {
                int[] values = (int[]) value;
                ListVector list = (ListVector) vector;
                int start = list.startNewValue(row);
                for (int i = 0; i < values.length; i++) {
                    ((IntVector) list.getDataVector()).setSafe(start + i, values[i]);
                }
                list.endValue(row, values.length);
                return 4L * values.length;
            }
            case LONGS -> {
                long[] values = (long[]) value;
                ListVector list = (ListVector) vector;
                int start = list.startNewValue(row);
                for (int i = 0; i < values.length; i++) {
                    ((BigIntVector) list.getDataVector()).setSafe(start + i, values[i]);
                }
                list.endValue(row, values.length);
                return 8L * values.length;
            }
        }
        return 8;
    }

    /** A lone surrogate has no UTF-8 form; if it is no byte's it must fail here, not come back as a question mark. */
    private static long setText(VarCharVector vector, int row, String text) {
        String portable = RawText.portable(text);
        byte[] bytes = portable.getBytes(StandardCharsets.UTF_8);
        if (!new String(bytes, StandardCharsets.UTF_8).equals(portable)) {
            throw new IllegalArgumentException("not representable in UTF-8: " + text);
        }
        vector.setSafe(row, bytes);
        return bytes.length;
    }
}
