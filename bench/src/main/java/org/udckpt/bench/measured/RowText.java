package org.udckpt.bench.measured;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Rows as CSV (RFC 4180): the columns of the Arrow file, with a header, empty where a kind of row has none. */
public final class RowText {
    private static final String KIND = "kind";

    private RowText() {}

    public static List<String> csv(List<Row> rows) {
        Set<String> columns = new LinkedHashSet<>(List.of(KIND));
        for (Class<?> kind : Row.class.getPermittedSubclasses()) {
            Arrays.stream(kind.getRecordComponents()).map(RecordComponent::getName).forEach(columns::add);
        }
        List<String> lines = new ArrayList<>(List.of(String.join(",", columns)));
        for (Row row : rows) {
            Map<String, String> values = values(row);
            lines.add(columns.stream().map(column -> quoted(values.getOrDefault(column, "")))
                    .collect(Collectors.joining(",")));
        }
        return lines;
    }

    private static Map<String, String> values(Row row) {
        Map<String, String> values = new LinkedHashMap<>(Map.of(KIND, row.getClass().getSimpleName()));
        for (RecordComponent component : row.getClass().getRecordComponents()) {
            try {
                Object value = component.getAccessor().invoke(row);
                values.put(component.getName(), value == null ? "" : value.toString());
            } catch (ReflectiveOperationException e) {
                throw new AssertionError("the accessors of a public record are public", e);
            }
        }
        return values;
    }

    private static String quoted(String value) {
        return value.matches("(?s).*[\",\r\n].*") ? '"' + value.replace("\"", "\"\"") + '"' : value;
    }
}
