package org.udckpt.image.table;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;

/** One record class of a table: how to take it apart, and how to make it again. */
final class RecordShape {
    /** Most characters of a value in a message. */
    private static final int LONGEST = 200;

    private final Class<?> type;
    private final Constructor<?> constructor;
    private final RecordComponent[] components;
    private final Method[] accessors;
    /** Component i of the record is column columns[i] of the table. */
    final int[] columns;

    RecordShape(Class<?> type, int[] columns) {
        this.type = type;
        this.components = type.getRecordComponents();
        this.columns = columns;
        this.accessors = Arrays.stream(components).map(RecordComponent::getAccessor).toArray(Method[]::new);
        try {
            this.constructor = type.getDeclaredConstructor(
                    Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
        } catch (NoSuchMethodException e) {
            throw new AssertionError(type + " has no canonical constructor", e);
        }
        constructor.setAccessible(true);
        for (Method accessor : accessors) {
            accessor.setAccessible(true);
        }
    }

    /** The record's name in the column {@code kind}. */
    String kind() {
        return type.getSimpleName();
    }

    Object component(Object row, int index) {
        try {
            return accessors[index].invoke(row);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(type.getName() + "." + accessors[index].getName() + " failed",
                    e.getCause());
        }
    }

    /**
     * @throws IllegalArgumentException where the record's own constructor refuses the values, or a primitive is null
     */
    Object make(Object[] values) {
        for (int i = 0; i < values.length; i++) {
            if (values[i] == null && components[i].getType().isPrimitive()) {
                throw new IllegalArgumentException(kind() + ": '" + components[i].getName() + "' is missing");
            }
        }
        try {
            return constructor.newInstance(values);
        } catch (InstantiationException | IllegalAccessException e) {
            throw new AssertionError(e);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            String given = Arrays.deepToString(values);
            String why = e.getCause().getMessage();
            throw new IllegalArgumentException(
                    "invalid " + kind() + " " + (given.length() > LONGEST ? given.substring(0, LONGEST) + "..." : given)
                            + (why == null ? "" : ": " + why),
                    e.getCause());
        }
    }
}
