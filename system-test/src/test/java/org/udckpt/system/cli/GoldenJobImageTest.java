package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.key.ImageKey;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.ThreadState;
import org.udckpt.store.OpenImage;
import org.udckpt.store.OpenNode;

/**
 * A checkpoint of a real MPI job of two ranks over UD, as format version 2 was first written, and what
 * {@code inspect --json} then said of it: all its tables must stay readable, and mean the same, or the format's version
 * must change. (It cannot be restarted: its program and libraries are not kept.) Made by an installed
 * {@code udckpt run --hosts a:1,b:1 --name golden --compress zstd:19 --
 * stencil_cg --grid 4 --solves 100000 --ballast 0}.
 */
@Timeout(60)
public class GoldenJobImageTest {
    private static final int RSP = 19 * Long.BYTES; // of user_regs_struct
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path temp;

    /** The directory's name is part of what is sealed. */
    private Path golden() throws Exception {
        return copy(temp);
    }

    /** With the key that it was sealed with. */
    public static Path copy(Path temp) throws Exception {
        Path kept = Path.of(GoldenJobImageTest.class.getResource("/golden-job-v2/inspect.json").toURI()).getParent();
        Path copy = Files.createDirectory(temp.resolve("ckpt-0001"));
        try (var files = Files.list(kept.resolve("ckpt-0001"))) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(file.getFileName()));
            }
        }
        Files.copy(kept.resolve("key"), temp.resolve("key"));
        Files.setPosixFilePermissions(temp.resolve("key"),
                java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
        Files.copy(kept.resolve("inspect.json"), temp.resolve("inspect.json"));
        return copy;
    }

    @Test
    void allThatItSaidIsStillRead() throws Exception {
        Path checkpoint = golden();
        JsonNode before = JSON.readTree(temp.resolve("inspect.json").toFile());
        try (Udckpts udckpt = new Udckpts(temp)) {
            assertEquals(0, udckpt.run("verify", checkpoint.toString()).code());
            Udckpts.Result inspected = udckpt.run("inspect", "--json", checkpoint.toString());
            assertEquals(0, inspected.code(), inspected.toString());
            List<String> changed = new ArrayList<>();
            compare("", before, JSON.readTree(inspected.output()), changed);
            assertEquals(List.of(), changed);
            assertEquals(0, udckpt.run("export-core", checkpoint.toString(), "--rank", "1", "--output",
                    temp.resolve("core").toString()).code());
        }
    }

    /** New fields are allowed; an old field may neither be missing nor differ. */
    private static void compare(String where, JsonNode before, JsonNode now, List<String> changed) {
        if (before.isObject() && now.isObject()) {
            before.properties().forEach(field -> compare(where + "/" + field.getKey(), field.getValue(),
                    now.path(field.getKey()), changed));
        } else if (before.isArray() && now.isArray() && before.size() == now.size()) {
            for (int i = 0; i < before.size(); i++) {
                compare(where + "/" + i, before.get(i), now.get(i), changed);
            }
        } else if (!before.equals(now)) {
            changed.add(where + ": " + before + " is " + now);
        }
    }

    /**
     * Tables and memory belong together: each thread's stack pointer is in its process's memory, and what is there can
     * be read.
     */
    @Test
    void itsMemoryIsStillThere() throws Exception {
        Path checkpoint = golden();
        ImageKey key = ImageKey.ofUser(Map.of("UDCKPT_KEY_FILE", temp.resolve("key").toString()));
        try (OpenImage image = OpenImage.open(checkpoint.toString(), key)) {
            OpenNode node = image.nodes().getFirst();
            assertEquals(List.of(0, 1), image.ranks());
            assertEquals(2, image.endpoints().size());
            assertEquals(8, node.image().threads().size());
            for (ThreadState thread : node.image().threads()) {
                MemorySource memory = node.memory(thread.pid());
                MemorySegment page = MemorySegment.ofArray(new long[512]);
                memory.read(ByteBuffer.wrap(thread.registers()).order(ByteOrder.LITTLE_ENDIAN).getLong(RSP) & -4096,
                        page);
                boolean used = false;
                for (int i = 0; i < 512; i++) {
                    used |= page.getAtIndex(ValueLayout.JAVA_LONG, i) != 0;
                }
                assertTrue(used, thread.toString());
            }
        }
    }
}
