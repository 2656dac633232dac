package org.udckpt.image.table;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The columns of a table, derived from a record class or a sealed interface of records. */
final class RecordSchema {
    static final String KIND = "record";

    /** One column; {@code javaType} matters for enums only. */
    record Column(String name, ColumnType type, Class<?> javaType, boolean nullable) {
        /** Field by field: the JDK links the equals of a record at its first use, which takes longer than all uses. */
        boolean same(Column other) {
            return name.equals(other.name) && type == other.type && javaType == other.javaType
                    && nullable == other.nullable;
        }
    }

    final Class<?> type;
    final List<Column> columns;
    /** By simple name; a table of one record class has one entry. */
    final Map<String, RecordShape> shapes;
    /** Whether column 0 is {@link #KIND}. */
    final boolean union;

    private RecordSchema(Class<?> type, boolean union, List<Column> columns, Map<String, RecordShape> shapes) {
        this.type = type;
        this.union = union;
        this.columns = List.copyOf(columns);
        this.shapes = shapes;
    }

    static RecordSchema of(Class<?> type) {
        List<Class<?>> records = new ArrayList<>();
        collect(type, records);
        return of(type, records);
    }

    /** @param records of which a row can be one */
    static RecordSchema of(Class<?> type, List<? extends Class<?>> records) {
        boolean union = !type.isRecord();
        List<Column> columns = new ArrayList<>();
        if (union) {
            columns.add(new Column(KIND, ColumnType.STRING, String.class, false));
        }
        Map<String, RecordShape> shapes = new LinkedHashMap<>();
        for (Class<?> record : records) {
            RecordShape shape = new RecordShape(record, place(record, columns, union));
            if (shapes.put(shape.kind(), shape) != null) {
                throw new IllegalArgumentException(type.getName() + " permits two records named " + shape.kind());
            }
        }
        if (columns.isEmpty()) {
            throw new IllegalArgumentException(type.getName() + " has no component to store");
        }
        return new RecordSchema(type, union, columns, shapes);
    }

    private static void collect(Class<?> type, List<Class<?>> records) {
        if (type.isRecord()) {
            if (!records.contains(type)) {
                records.add(type);
            }
        } else if (type.isInterface() && type.isSealed()) {
            for (Class<?> permitted : type.getPermittedSubclasses()) {
                collect(permitted, records);
            }
        } else {
            throw new IllegalArgumentException(
                    type.getName() + " is neither a record nor a sealed interface of records");
        }
    }

    private static int[] place(Class<?> record, List<Column> columns, boolean union) {
        RecordComponent[] components = record.getRecordComponents();
        int[] places = new int[components.length];
        for (int i = 0; i < components.length; i++) {
            String where = record.getName() + "." + components[i].getName();
            Class<?> javaType = components[i].getType();
            Column column = new Column(components[i].getName(), ColumnType.of(javaType, where), javaType,
                    union || !javaType.isPrimitive());
            if (union && column.name().equals(KIND)) {
                throw new IllegalArgumentException(
                        where + ": the name 'record' is taken by the column that names the record");
            }
            places[i] = find(columns, column, where);
        }
        return places;
    }

    private static int find(List<Column> columns, Column column, String where) {
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).name().equals(column.name())) {
                if (!columns.get(i).same(column)) {
                    throw new IllegalArgumentException(where + " is a " + column.javaType().getTypeName()
                            + " but elsewhere in the table a " + columns.get(i).javaType().getTypeName());
                }
                return i;
            }
        }
        columns.add(column);
        return columns.size() - 1;
    }
}
