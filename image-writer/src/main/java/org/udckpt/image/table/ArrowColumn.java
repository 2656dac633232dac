package org.udckpt.image.table;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.udckpt.image.ImageError;
import org.udckpt.linux.RawText;

/** One column of a batch, checked when it is made, so that {@link #value} can only fail on a null or a bad text. */
final class ArrowColumn {
    /** What bytes become that are not UTF-8; a text may have it, too. */
    private static final char REPLACEMENT = '\uFFFD';

    private final RecordSchema.Column column;
    private final ColumnBuffers source;
    private final ByteBuffer validity;
    /** Start of each value and the end of the last one, in elements; null for types of fixed width. */
    private final ByteBuffer offsets;
    private final ByteBuffer data;

    private ArrowColumn(RecordSchema.Column column, ColumnBuffers source, ByteBuffer validity, ByteBuffer offsets,
            ByteBuffer data) {
        this.column = column;
        this.source = source;
        this.validity = validity;
        this.offsets = offsets;
        this.data = data;
    }

    static ArrowColumn read(RecordSchema.Column column, int rows, ColumnBuffers source) throws ImageError {
        String name = column.name();
        source.node(rows, name);
        ByteBuffer validity = source.validity(rows, name);
        return switch (column.type()) {
            case INT -> new ArrowColumn(column, source, validity, null, source.buffer(4L * rows, name));
            case LONG -> new ArrowColumn(column, source, validity, null, source.buffer(8L * rows, name));
            case BOOLEAN -> new ArrowColumn(column, source, validity, null, source.buffer((rows + 7L) / 8, name));
            case STRING, ENUM, BYTES -> {
                ByteBuffer offsets = source.buffer(rows == 0 ? 0 : 4L * (rows + 1), name);
                ByteBuffer data = source.buffer(0, name);
                checkOffsets(offsets, rows, data.limit(), source, name);
                yield new ArrowColumn(column, source, validity, offsets, data);
            }
            case INTS, LONGS -> list(column, rows, validity, source);
        };
    }

    private static ArrowColumn list(RecordSchema.Column column, int rows, ByteBuffer validity, ColumnBuffers source)
            throws ImageError {
        String name = column.name();
        long width = column.type() == ColumnType.INTS ? 4 : 8;
        ByteBuffer offsets = source.buffer(rows == 0 ? 0 : 4L * (rows + 1), name);
        int elements = source.node(-1, name);
        ByteBuffer valid = source.validity(elements, name);
        for (int i = 0; valid != null && i < elements; i++) {
            if (!bit(valid, i)) {
                throw source.wrong(name, "element " + i + " is null");
            }
        }
        ByteBuffer data = source.buffer(width * elements, name);
        checkOffsets(offsets, rows, elements, source, name);
        return new ArrowColumn(column, source, validity, offsets, data);
    }

    private static void checkOffsets(ByteBuffer offsets, int rows, int limit, ColumnBuffers source, String name)
            throws ImageError {
        int last = 0;
        for (int i = 0; rows > 0 && i <= rows; i++) {
            int offset = offsets.getInt(4 * i);
            if (offset < last || offset > limit) {
                throw source.wrong(name,
                        "row " + i + ": offset " + offset + " is out of range (" + last + " to " + limit + ")");
            }
            last = offset;
        }
    }

    /** The value of a row, as the record's constructor takes it. */
    Object value(int row) throws ImageError {
        if (validity != null && !bit(validity, row)) {
            if (!column.nullable()) {
                throw source.wrong(column.name(), "row " + row + " is null");
            }
            return null;
        }
        return switch (column.type()) {
            case INT -> data.getInt(4 * row);
            case LONG -> data.getLong(8 * row);
            case BOOLEAN -> bit(data, row);
            case STRING -> text(row);
            case ENUM -> constant(text(row), row);
            case BYTES -> bytes(row);
            case INTS -> {
                int[] values = new int[length(row)];
                data.slice(4 * start(row), 4 * values.length).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(values);
                yield values;
            }
            case LONGS -> {
                long[] values = new long[length(row)];
                data.slice(8 * start(row), 8 * values.length).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(values);
                yield values;
            }
        };
    }

    private int start(int row) {
        return offsets.getInt(4 * row);
    }

    private int length(int row) {
        return offsets.getInt(4 * row + 4) - offsets.getInt(4 * row);
    }

    private byte[] bytes(int row) {
        byte[] value = new byte[length(row)];
        data.get(start(row), value);
        return value;
    }

    private String text(int row) throws ImageError {
        byte[] bytes = bytes(row);
        try {
            String text = new String(bytes, StandardCharsets.UTF_8);
            // A decoder for each text takes a young JVM longer than the rest of the table.
            if (text.indexOf(REPLACEMENT) >= 0) {
                text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            }
            return RawText.ofPortable(text);
        } catch (CharacterCodingException e) {
            throw source.wrong(column.name(), "row " + row + " is not UTF-8");
        }
    }

    private Object constant(String name, int row) throws ImageError {
        for (Object constant : column.javaType().getEnumConstants()) {
            if (((Enum<?>) constant).name().equals(name)) {
                return constant;
            }
        }
        throw source.wrong(column.name(), "row " + row + ": '" + name + "' is not a "
                + column.javaType().getSimpleName());
    }

    private static boolean bit(ByteBuffer bits, int index) {
        return (bits.get(index >>> 3) >>> (index & 7) & 1) != 0;
    }
}
