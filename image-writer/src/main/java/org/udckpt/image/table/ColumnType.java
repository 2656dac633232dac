package org.udckpt.image.table;

import org.apache.arrow.vector.types.pojo.ArrowType;

/** How a Java component type is stored in an Arrow column. */
enum ColumnType {
    INT(new ArrowType.Int(32, true)),
    LONG(new ArrowType.Int(64, true)),
    BOOLEAN(ArrowType.Bool.INSTANCE),
    STRING(ArrowType.Utf8.INSTANCE),
    /** The constant's name: a reordered enum does not change the meaning of old images. */
    ENUM(ArrowType.Utf8.INSTANCE),
    BYTES(ArrowType.Binary.INSTANCE),
    INTS(ArrowType.List.INSTANCE),
    LONGS(ArrowType.List.INSTANCE);

    final ArrowType arrow;

    ColumnType(ArrowType arrow) {
        this.arrow = arrow;
    }

    /** The type of a list's elements, null where this is no list. */
    ColumnType element() {
        return switch (this) {
            case INTS -> INT;
            case LONGS -> LONG;
            case INT, LONG, BOOLEAN, STRING, ENUM, BYTES -> null;
        };
    }

    static ColumnType of(Class<?> type, String where) {
        if (type == int.class) {
            return INT;
        } else if (type == long.class) {
            return LONG;
        } else if (type == boolean.class) {
            return BOOLEAN;
        } else if (type == String.class) {
            return STRING;
        } else if (type == byte[].class) {
            return BYTES;
        } else if (type == int[].class) {
            return INTS;
        } else if (type == long[].class) {
            return LONGS;
        } else if (type.isEnum()) {
            return ENUM;
        }
        throw new IllegalArgumentException(where + ": a table cannot hold a " + type.getTypeName()
                + "; use int, long, boolean, String, byte[], int[], long[] or an enum");
    }
}
