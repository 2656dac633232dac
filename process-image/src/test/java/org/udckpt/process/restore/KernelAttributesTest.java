package org.udckpt.process.restore;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.udckpt.linux.User;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.PeerCredentials;
import org.udckpt.process.model.ProcessState;

/**
 * An attribute that a newer version has kept is refused by name, and not lost. That those that are known come back: the
 * feature program task_attributes.
 */
class KernelAttributesTest {
    private static final int PID = 5000;
    private static final Function<ProcessState, String> NAMING =
            process -> "process " + process.pid() + " (" + process.name() + ")";

    private static JobImage image(Attribute... attributes) {
        ProcessState worker = new ProcessState(PID, 0, PID, PID, 0, "/bin/true", "/", 022, "worker", new byte[16],
                new long[11], new byte[65 * 32], new byte[0], new long[6], new long[32], 0, 0,
                true, false, false, new int[0], new long[0], false, 50_000, false, "", 0, 0, 0);
        return new JobImage(List.of(worker), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), null,
                null, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(),
                List.of(), List.of(attributes));
    }

    @Test
    void whatIsNotKnownIsRefusedByName() {
        JobImage image = image(Attribute.of(AttributeKind.MEMORY_MERGE, PID, 0, 1),
                new Attribute(PID, 0, "core-scheduling", 0, 0, new long[]{7}));
        RestoreException refused = assertThrows(RestoreException.class, () -> Restorer.checkRights(image, NAMING));
        assertEquals(RestoreException.Reason.UNSUPPORTED, refused.reason());
        assertTrue(
                refused.getMessage()
                        .startsWith("process 5000 (worker): the image has an attribute of it, 'core-scheduling',"),
                refused.getMessage());
    }

    @Test
    void allThatAreKnownPass() {
        for (AttributeKind kind : AttributeKind.values()) {
            long[] values = kind == AttributeKind.PEER_CREDENTIALS
                    ? new PeerCredentials(1, PID, User.id(), 0, new int[0]).values() : new long[]{1};
            JobImage image = image(Attribute.of(kind, PID, 0, values));
            assertDoesNotThrow(() -> Restorer.checkRights(image, NAMING), kind.label());
        }
    }
}
