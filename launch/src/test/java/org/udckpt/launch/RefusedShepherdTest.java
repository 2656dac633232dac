package org.udckpt.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

@Timeout(120)
class RefusedShepherdTest {
    private static final Path PROGRAM = Path.of(System.getProperty("udckpt.native"), "udckpt-shepherd");

    @TempDir
    Path directory;

    /** A refusal comes as the shepherd's first and last line; it must not be taken for a shepherd that was killed. */
    @Test
    void namespacesThatAreRefusedAreToldWithTheReason() throws Exception {
        // no clock can be set so far ahead
        Path refused = program("exec " + PROGRAM + " \"$1\" --restore " + Long.MAX_VALUE);
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
        Failure failure = assertThrows(Failure.class, () -> Shepherd.startRestoring(refused, directory.resolve("s"), "",
                java.util.function.UnaryOperator.identity(), listener).close());
        assertEquals(ExitCode.UNSUPPORTED, failure.code(), failure.getMessage());
        assertTrue(failure.getMessage().contains("namespace"), failure.getMessage());
        assertFalse(lost.get());
    }

    private Path program(String script) throws IOException {
        Path program = Files.writeString(directory.resolve("program"), "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        return program;
    }
}
