package org.udckpt.system.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowFileReader;

/**
 * The tables of a checkpoint as a foreign program reads them: with Arrow's own library, without the manifest or the
 * key.
 */
record ArrowTables(Map<String, List<Map<String, Object>>> rows) {
    /**
     * All files of the directory that Arrow opens, by the name of the table; of several nodes their rows one after the
     * other.
     */
    static ArrowTables of(Path checkpoint) throws IOException {
        Map<String, List<Map<String, Object>>> tables = new TreeMap<>();
        try (Stream<Path> files = Files.list(checkpoint)) {
            for (Path file : files.filter(path -> path.toString().endsWith(".arrow")).sorted().toList()) {
                String name = file.getFileName().toString();
                read(file, tables.computeIfAbsent(name.substring(name.indexOf('.') + 1, name.lastIndexOf('.')),
                        _ -> new ArrayList<>()));
            }
        }
        return new ArrowTables(tables);
    }

    private static void read(Path file, List<Map<String, Object>> into) throws IOException {
        try (RootAllocator allocator = new RootAllocator(); var channel = Files.newByteChannel(file);
                ArrowFileReader reader = new ArrowFileReader(channel, allocator)) {
            while (reader.loadNextBatch()) {
                VectorSchemaRoot root = reader.getVectorSchemaRoot();
                for (int row = 0; row < root.getRowCount(); row++) {
                    Map<String, Object> values = new LinkedHashMap<>();
                    for (FieldVector column : root.getFieldVectors()) {
                        values.put(column.getName(), column.getObject(row));
                    }
                    into.add(values);
                }
            }
        }
    }

    List<Map<String, Object>> table(String name) {
        return rows.get(name);
    }

    static long number(Map<String, Object> row, String column) {
        return ((Number) row.get(column)).longValue();
    }
}
