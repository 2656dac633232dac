package org.udckpt.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.udckpt.process.kinds.ObjectKinds;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.Clocks;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.GuardPages;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobName;
import org.udckpt.process.model.PacketSocket;
import org.udckpt.process.model.PosixTimer;
import org.udckpt.process.model.Privileges;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TerminalObject;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.model.VectorLayout;
import org.udckpt.process.model.Zombie;

/**
 * Images of older versions stay readable: no table loses or gains a column, but that of objects, which may gain some
 * behind all others (a new kind of object, last in {@link ObjectKinds}). What else is to be said of something old is an
 * {@link Attribute} or an object of a new kind.
 */
class ImageColumnsTest {
    private static final Path KNOWN =
            Path.of(System.getProperty("udckpt.root"), "store/src/test/resources/image-columns.txt");
    private static final String OBJECTS = "objects";
    private static final List<Class<?>> TABLES = List.of(ProcessState.class, ThreadState.class, Region.class,
            Descriptor.class, PosixTimer.class, Zombie.class, Clocks.class, VectorLayout.class, MemoryRow.class,
            TcpSocket.class, TerminalObject.class, InotifyWatch.class, FileNotice.class, GuardPages.class,
            Privileges.class, Attribute.class, PacketSocket.class, JobFile.class, JobName.class, FileIdentity.class,
            RankRow.class);

    @Test
    void columnsAreThoseThatOlderImagesHave() throws Exception {
        Map<String, List<String>> now = new LinkedHashMap<>();
        TABLES.forEach(table -> now.put(table.getSimpleName(), columns(records(table))));
        now.put(OBJECTS, columns(List.copyOf(ObjectKinds.records())));
        assertTrue(ImageTables.OBJECT_TABLE.encode(List.of()).length > 0); // a name has one type in a table
        Set<String> known = new LinkedHashSet<>();
        for (String line : Files.readAllLines(KNOWN)) {
            List<String> words = List.of(line.split(" "));
            List<String> columns = now.getOrDefault(words.getFirst(), List.of());
            List<String> older = words.subList(1, words.size());
            assertTrue(columns.size() >= older.size(), words.getFirst() + " has lost columns: " + columns);
            assertEquals(older, words.getFirst().equals(OBJECTS) ? columns.subList(0, older.size()) : columns,
                    "images of older versions have other columns in the table of " + words.getFirst());
            known.add(words.getFirst());
        }
        assertEquals(now.keySet(), known, "a table that " + KNOWN + " does not have");
    }

    private static List<Class<?>> records(Class<?> table) {
        return table.isSealed() ? Arrays.stream(table.getPermittedSubclasses()).flatMap(one -> records(one).stream())
                .toList() : List.of(table);
    }

    private static List<String> columns(List<? extends Class<?>> records) {
        List<String> columns = new ArrayList<>();
        for (Class<?> record : records) {
            for (RecordComponent component : record.getRecordComponents()) {
                String column = component.getName() + ":" + component.getType().getSimpleName();
                if (!columns.contains(column)) {
                    columns.add(column);
                }
            }
        }
        return columns;
    }
}
