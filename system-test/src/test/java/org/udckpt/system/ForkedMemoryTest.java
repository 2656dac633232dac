package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Memory that forks share, in images of all forms: stored once, and in memory once after each restart. The program is a
 * feature program (process-image/src/test/c/fork_shared.c), which looks at its own memory.
 */
@Timeout(300)
class ForkedMemoryTest {
    /**
     * What its six processes have in common, and what each of four children has of its own, with what its child has
     * from it.
     */
    private static final long COMMON = 48 << 20, OWN = 4 * COMMON / 16;
    private static final long OTHER = 16 << 20;

    private static ProcessTreeJob forks() throws Exception {
        return new ProcessTreeJob(List.of(CommandLine.artifact("features/fork_shared").toString(), "@"));
    }

    /** Bytes of a checkpoint's files. */
    private static long size(ProcessTreeJob tree, int id) throws Exception {
        try (Stream<Path> files = Files.walk(tree.file("images").resolve("ckpt-%04d".formatted(id)))) {
            return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
        }
    }

    private static void finish(ProcessTreeJob tree) throws Exception {
        tree.finish();
        assertEquals("PASS\n", Files.readString(tree.file("result")));
        tree.good();
    }

    @Tag("slow")
    @Test
    void isStoredOnceAndSharedAgain() throws Exception {
        try (ProcessTreeJob tree = forks()) {
            tree.start();
            for (int incarnation = 0; incarnation < 2; incarnation++) {
                tree.await(incarnation == 0 ? "ready" : "");
                tree.checkpointAndKill();
                assertTrue(size(tree, incarnation + 1) < COMMON + OWN + OTHER,
                        size(tree, incarnation + 1) + " bytes of checkpoint " + (incarnation + 1));
                tree.restart();
            }
            tree.await("");
            inspected(tree);
            finish(tree);
        }
    }

    /** All processes name what they have in common. */
    private static void inspected(ProcessTreeJob tree) throws Exception {
        JsonNode processes = tree.json("inspect", tree.file("images").toString(), "--json").at("/processes");
        long common = StreamSupport.stream(processes.spliterator(), false)
                .filter(process -> process.at("/common_bytes").asLong() > COMMON / 2).count();
        assertEquals(6, common, processes.toString());
        assertTrue(tree.output("inspect", tree.file("images").toString()).contains("in common with other processes"));
    }

    @Tag("slow")
    @Test
    void compressedAndEncrypted() throws Exception {
        try (ProcessTreeJob tree = forks()) {
            Path key = Files.writeString(tree.file("key"),
                    "5d41402abc4b2a76b9719d911017c592ae2bbaa3ce8b1c9d53d8e1f0a1b2c3d4");
            Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
            tree.start("--compress", "zstd:1", "--encrypt", "file:" + key);
            tree.await("ready");
            tree.checkpointAndKill();
            assertTrue(size(tree, 1) < COMMON + OWN + OTHER, size(tree, 1) + " bytes");
            tree.restart("--encrypt", "file:" + key);
            tree.await("");
            finish(tree);
        }
    }

    /** What the second has not stored again is shared, too. */
    @Tag("slow")
    @Test
    void ofAChain() throws Exception {
        try (ProcessTreeJob tree = forks()) {
            tree.start("--full-every", "4");
            tree.await("ready");
            assertEquals(0, tree.checkpoint(), tree::text);
            tree.checkpointAndKill();
            assertTrue(size(tree, 1) > COMMON + OWN && size(tree, 2) < OTHER,
                    size(tree, 1) + " and " + size(tree, 2) + " bytes");
            tree.restart();
            tree.await("");
            finish(tree);
        }
    }
}
