package org.udckpt.job.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;

@Timeout(120)
class RefusedShepherdTest {
    private static final Path PROGRAM = Path.of(System.getProperty("udckpt.native"), "udckpt-shepherd");

    @TempDir
    Path directory;

    /** A refusal comes as the shepherd's first and last line; it must not be taken for a shepherd that was killed. */
    @Test
    void namespacesThatAreRefusedAreToldWithTheReason() {
        AtomicBoolean lost = new AtomicBoolean();
        ShepherdListener listener = new ShepherdListener() {
            @Override
            public void exited(int hostPid, int waitStatus) {
                throw new AssertionError("no process was started");
            }

            @Override
            public void shepherdLost() {
                lost.set(true);
            }
        };
        Failure refused = assertThrows(Failure.class,
                () -> Shepherd.startRestoring(PROGRAM, directory.resolve("s"), Long.MAX_VALUE, "", listener).close()); // no clock can be set so far ahead
        assertEquals(ExitCode.UNSUPPORTED, refused.code(), refused.getMessage());
        assertTrue(refused.getMessage().contains("namespace") || refused.getMessage().contains("clocks"), refused.getMessage());
        assertFalse(lost.get());
    }
}
