package org.udckpt.image.table;

import java.nio.file.Path;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Type;
import org.udckpt.image.ImageError;

/**
 * Compares the schema in an Arrow file with the one of the Java type: names, order, types and nullability. A table of
 * several kinds of rows may have been written by a version that had fewer kinds: columns that only later ones have come
 * last, and are not there.
 */
final class SchemaCheck {
    private final RecordSchema expected;
    private final Path file;
    private final long where;

    SchemaCheck(RecordSchema expected, Path file, long where) {
        this.expected = expected;
        this.file = file;
        this.where = where;
    }

    /** Returns how many columns there are. */
    int check(Schema schema) throws ImageError {
        if (schema == null || schema.endianness() != Endianness.Little) {
            throw wrong("the schema is missing or not little-endian");
        }
        int count = schema.fieldsLength();
        boolean earlier = expected.union && count > 0 && count < expected.columns.size();
        if (count != expected.columns.size() && !earlier) {
            throw wrong(count + " columns instead of " + expected.columns.size());
        }
        for (int i = 0; i < count; i++) {
            RecordSchema.Column column = expected.columns.get(i);
            Field field = schema.fields(i);
            if (!column.name().equals(field.name()) || field.nullable() != column.nullable()) {
                throw wrong("column " + i + " is '" + field.name() + "' instead of '" + column.name() + "'");
            }
            check(field, column.type(), column.name());
        }
        return count;
    }

    private void check(Field field, ColumnType type, String name) throws ImageError {
        ColumnType element = type.element();
        if (field.dictionary() != null || !typeMatches(field, type)
                || field.childrenLength() != (element == null ? 0 : 1)) {
            throw wrong("column '" + name + "' has Arrow type " + field.typeType() + " instead of " + type);
        }
        if (element != null) {
            check(field.children(0), element, name + "[]");
        }
    }

    private static boolean typeMatches(Field field, ColumnType type) {
        return switch (type) {
            case INT -> isInt(field, 32);
            case LONG -> isInt(field, 64);
            case BOOLEAN -> field.typeType() == Type.Bool;
            case STRING, ENUM -> field.typeType() == Type.Utf8;
            case BYTES -> field.typeType() == Type.Binary;
            case INTS, LONGS -> field.typeType() == Type.List;
        };
    }

    private static boolean isInt(Field field, int bits) {
        if (field.typeType() != Type.Int) {
            return false;
        }
        Int type = (Int) field.type(new Int());
        return type != null && type.isSigned() && type.bitWidth() == bits;
    }

    private ImageError.Corrupt wrong(String what) {
        return new ImageError.Corrupt(file, where, "not a table of " + expected.type.getSimpleName() + ": " + what);
    }
}
