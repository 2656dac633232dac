package org.udckpt.process.check;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.JobImage;

/** Checks the writers of a file in a table that may hold any text. */
class IdentityCheckTest {
    private static final String BOOT = "01234567-89ab-cdef-0123-456789abcdef";

    private static JobImage image(String writers) {
        FileIdentity file = new FileIdentity("/bin/true", FileIdentity.Use.PROGRAM, 1, 1, 1, 1, 1, 1, 0755, 0, 0, BOOT,
                writers, "", "", new byte[32], "");
        JobImage empty = new JobImage(List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), null,
                null);
        return empty.identified(List.of(file));
    }

    @Test
    void writersAreWords() {
        for (String right : List.of("", "everybody", "user:33", "everybody group:4711 user:0")) {
            assertDoesNotThrow(() -> IdentityCheck.check(image(right)), right);
        }
        for (String wrong : List.of(" ", "user:", "user:33 ", "user:33  group:1", "user:33 everybody", "anybody")) {
            BrokenTable broken = assertThrows(BrokenTable.class, () -> IdentityCheck.check(image(wrong)), wrong);
            assertTrue(broken.getMessage().contains("writers"), broken.getMessage());
        }
    }

    /** As many as a text has room for. */
    @Test
    void manyAreNoTrouble() {
        assertDoesNotThrow(() -> IdentityCheck.check(image("everybody" + " user:1".repeat(580))));
    }
}
