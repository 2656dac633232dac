package org.udckpt.image.table;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.arrow.flatbuf.Schema;
import org.udckpt.image.ImageError;

/** Makes records of the rows of an {@link ArrowFile} of a known schema. */
final class ArrowDecoder<T> implements ArrowFile.Contents {
    private final Class<T> type;
    private final RecordSchema expected;
    private final Path file;
    private int present;
    private final List<T> rows = new ArrayList<>();

    ArrowDecoder(Class<T> type, RecordSchema expected, Path file) {
        this.type = type;
        this.expected = expected;
        this.file = file;
    }

    /** What was read. */
    List<T> rows() {
        return Collections.unmodifiableList(rows);
    }

    @Override
    public void schema(Schema schema, long where) throws ImageError {
        present = new SchemaCheck(expected, file, where).check(schema);
    }

    @Override
    public void batch(int count, ColumnBuffers buffers) throws ImageError {
        List<ArrowColumn> columns = new ArrayList<>();
        for (RecordSchema.Column column : expected.columns.subList(0, present)) {
            columns.add(ArrowColumn.read(column, count, buffers));
        }
        buffers.checkAllUsed();
        for (int row = 0; row < count; row++) {
            rows.add(type.cast(record(columns, row)));
        }
    }

    private Object record(List<ArrowColumn> columns, int row) throws ImageError {
        RecordShape shape = expected.shapes.values().iterator().next();
        if (expected.union) {
            String kind = (String) columns.get(0).value(row);
            shape = expected.shapes.get(kind);
            if (shape == null) {
                throw new ImageError.Corrupt(file, -1, "row " + rows.size() + ": unknown kind '" + kind + "'");
            }
        }
        Object[] values = new Object[shape.columns.length];
        for (int i = 0; i < values.length; i++) {
            if (shape.columns[i] >= present) {
                throw new ImageError.Corrupt(file, -1, "row " + rows.size() + ": kind '" + shape.kind()
                        + "' without a value in its columns");
            }
            values[i] = columns.get(shape.columns[i]).value(row);
        }
        try {
            return shape.make(values);
        } catch (IllegalArgumentException e) {
            throw new ImageError.Corrupt(file, -1, "row " + rows.size() + ": " + e.getMessage(), e);
        }
    }
}
