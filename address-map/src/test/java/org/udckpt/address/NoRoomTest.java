package org.udckpt.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A runtime directory that is too small: said when a file is made, with what it takes; nobody is ended by SIGBUS when
 * it is used.
 */
@Timeout(60)
class NoRoomTest {
    private static final int KIB = 64;

    @TempDir
    Path directory;

    @BeforeEach
    void small() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root mounts");
        assertEquals(0, new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=" + KIB + "k", "udckpt-small",
                directory.toString()).inheritIO().start().waitFor());
    }

    @AfterEach
    void unmount() throws Exception {
        new ProcessBuilder("umount", directory.toString()).inheritIO().start().waitFor();
    }

    @Test
    void aTableThatDoesNotFitIsNotMade() {
        Path table = directory.resolve("table");
        IOException refused = assertThrows(IOException.class, () -> TranslationTable.create(table, 1000, 1));
        assertTrue(refused.getMessage().contains(table + " takes ") && refused.getMessage().contains("No space left")
                && refused.getMessage().contains("UDCKPT_RUNTIME"), refused.getMessage());
        assertFalse(Files.exists(table));
    }

    @Test
    void keysThatDoNotFitAreNotMirrored() {
        assertTrue(assertThrows(IOException.class, () -> KeysFile.mirror(directory.resolve("keys.3"), new long[0]))
                .getMessage().contains("No space left"));
    }

    @Test
    void countersHaveRoomForTheRanksThatBegin() throws Exception {
        assertThrows(IOException.class, () -> CountersFile.create(directory.resolve("many"), RankSpan.all(100)));
        try (CountersFile counters = CountersFile.create(directory.resolve("counters"), RankSpan.all(4))) {
            for (int rank = 0; rank < 4; rank++) {
                counters.begin(rank);
            }
            Files.write(directory.resolve("other"), new byte[(KIB - 20) * 1024]);
            assertTrue(assertThrows(UncheckedIOException.class, () -> counters.begin(4)).getCause().getMessage()
                    .contains("No space left"));
            counters.begin(2); // a number that is taken again has its page
        }
    }
}
