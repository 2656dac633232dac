package org.udckpt.process.feature;

import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.udckpt.process.model.JobImage;

/**
 * An image's tables, of which one says in one column of one row what is not so; or has a row too many, too few, or in
 * the wrong place.
 */
final class LyingTables {
    private static final long[] ODD = {0, 1, -1, 2, 4095, 4096, -4096, 1 << 20, Integer.MAX_VALUE, Integer.MIN_VALUE,
            1L << 32, 1L << 47, Long.MAX_VALUE, Long.MIN_VALUE};
    private static final int LONG = 1 << 20;

    private final JobImage image;
    private final Random random;

    /** @param lie what was changed, for who reads the failure */
    record Lie(JobImage image, String lie) {}

    LyingTables(JobImage image, Random random) {
        this.image = image;
        this.random = random;
    }

    /** Each column of each kind of record that the image has, once with each kind of lie: some hundreds. */
    List<Lie> everyColumn() throws ReflectiveOperationException {
        List<Lie> lies = new ArrayList<>();
        RecordComponent[] tables = JobImage.class.getRecordComponents();
        for (int table = 0; table < tables.length; table++) {
            Object content = tables[table].getAccessor().invoke(image);
            List<?> rows = content instanceof List<?> list ? list : content == null ? List.of() : List.of(content);
            for (Class<?> kind : rows.stream().<Class<?>>map(Object::getClass).distinct().toList()) {
                for (int column = 0; column < kind.getRecordComponents().length; column++) {
                    inColumn(lies, table, rows, kind, column);
                }
            }
            if (content instanceof List<?> && !rows.isEmpty()) {
                int at = random.nextInt(rows.size());
                lies.add(lie(table, without(rows, at), "without row " + at));
                List<Object> twice = new ArrayList<>(rows);
                twice.add(random.nextInt(rows.size() + 1), rows.get(at));
                lies.add(lie(table, twice, "row " + at + " twice"));
                lies.add(lie(table, rows.reversed(), "turned round"));
                lies.add(lie(table, List.of(), "empty"));
            }
        }
        return lies;
    }

    private static List<Object> without(List<?> rows, int at) {
        List<Object> fewer = new ArrayList<>(rows);
        fewer.remove(at);
        return fewer;
    }

    private void inColumn(List<Lie> lies, int table, List<?> rows, Class<?> kind, int column)
            throws ReflectiveOperationException {
        List<Integer> candidates = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            if (rows.get(i).getClass() == kind) {
                candidates.add(i);
            }
        }
        RecordComponent component = kind.getRecordComponents()[column];
        component.getAccessor().setAccessible(true);
        int row = candidates.get(random.nextInt(candidates.size()));
        Object old = component.getAccessor().invoke(rows.get(row));
        for (Object value : lies(component.getType(), old)) {
            Object[] values = new Object[kind.getRecordComponents().length];
            for (int i = 0; i < values.length; i++) {
                kind.getRecordComponents()[i].getAccessor().setAccessible(true);
                values[i] = kind.getRecordComponents()[i].getAccessor().invoke(rows.get(row));
            }
            values[column] = value;
            Constructor<?> make = kind.getDeclaredConstructor(
                    Arrays.stream(kind.getRecordComponents()).map(RecordComponent::getType).toArray(Class<?>[]::new));
            make.setAccessible(true);
            List<Object> changed = new ArrayList<>(rows);
            changed.set(row, make.newInstance(values));
            lies.add(lie(table, changed, kind.getSimpleName() + " in row " + row + ": " + component.getName() + " is "
                    + shown(value) + ", not " + shown(old)));
        }
    }

    private static String shown(Object value) {
        return switch (value) {
            case byte[] bytes -> bytes.length + " bytes";
            case int[] ints -> ints.length + " ints";
            case long[] longs -> longs.length + " longs";
            case String text when text.length() > 100 -> text.length() + " characters";
            case null, default -> String.valueOf(value);
        };
    }

    private List<Object> lies(Class<?> type, Object old) {
        List<Object> lies = new ArrayList<>();
        if (type == long.class) {
            Arrays.stream(ODD).filter(odd -> odd != (long) old).forEach(lies::add);
            lies.add((long) old + 1);
            lies.add((long) old + 4096);
        } else if (type == int.class) {
            Arrays.stream(ODD).mapToInt(odd -> (int) odd).distinct().filter(odd -> odd != (int) old).forEach(lies::add);
            lies.add((int) old + 1);
        } else if (type == boolean.class) {
            lies.add(!(boolean) old);
        } else {
            lies.add(null);
        }
        switch (old) {
            case String _ -> lies.addAll(List.of("", "\0", "/nowhere/at/all", "x".repeat(LONG), "%s\n\u0001"));
            case byte[] bytes -> lies.addAll(List.of(new byte[0], Arrays.copyOf(bytes, bytes.length + 1),
                    Arrays.copyOf(bytes, bytes.length / 2), noise(bytes.length), new byte[LONG]));
            case int[] ints -> lies.addAll(List.of(new int[0], Arrays.copyOf(ints, ints.length + 1),
                    new int[]{-1, Integer.MAX_VALUE, Integer.MIN_VALUE}, new int[LONG]));
            case long[] longs -> lies.addAll(List.of(new long[0], Arrays.copyOf(longs, longs.length + 1),
                    new long[]{-1, Long.MAX_VALUE, Long.MIN_VALUE, 1}, new long[LONG]));
            case Enum<?> value -> Arrays.stream(value.getDeclaringClass().getEnumConstants())
                    .filter(other -> other != value).forEach(lies::add);
            case null, default -> {
            }
        }
        return lies;
    }

    private byte[] noise(int length) {
        byte[] noise = new byte[length];
        random.nextBytes(noise);
        return noise;
    }

    private Lie lie(int table, List<?> rows, String what) throws ReflectiveOperationException {
        RecordComponent[] tables = JobImage.class.getRecordComponents();
        Object[] values = new Object[tables.length];
        for (int i = 0; i < tables.length; i++) {
            values[i] = tables[i].getAccessor().invoke(image);
        }
        values[table] =
                List.class.isAssignableFrom(tables[table].getType()) ? rows : rows.isEmpty() ? null : rows.getFirst();
        Class<?>[] types = Arrays.stream(tables).map(RecordComponent::getType).toArray(Class<?>[]::new);
        return new Lie(JobImage.class.getDeclaredConstructor(types).newInstance(values),
                tables[table].getName() + ", " + what);
    }
}
