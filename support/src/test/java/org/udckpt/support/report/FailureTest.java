package org.udckpt.support.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileSystemException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.image.storage.Errno;
import org.udckpt.linux.LinuxError;

/** Errors of the file system have their exit code by errno, whatever the language of their texts. */
class FailureTest {
    private static final int EFBIG = 27;

    private static Failure javas(int errno) {
        return Failure.of("cannot write", new FileSystemException("/full/core", null, Errno.text(errno)));
    }

    private static Failure ours(int errno) {
        return Failure.of("cannot write", new IOException("of its own words", new LinuxError("write", errno)));
    }

    @ParameterizedTest
    @ValueSource(ints = {LinuxError.ENOSPC, LinuxError.EDQUOT})
    void aFullFileSystemIsNamedOnceWithTheWayOut(int errno) {
        assertEquals("cannot write: /full/core: " + Errno.text(errno) + "; free some space there",
                javas(errno).getMessage());
        assertEquals(ExitCode.NO_SPACE, javas(errno).code());
        assertEquals(ExitCode.NO_SPACE, ours(errno).code());
        assertEquals("cannot write: of its own words", ours(errno).getMessage(), "which have a way out of their own");
    }

    @Test
    void aFileThatMayNotBeSoLargeNamesTheLimit() {
        for (Failure failure : new Failure[]{javas(EFBIG), ours(EFBIG)}) {
            assertEquals(ExitCode.UNSUPPORTED, failure.code());
            assertTrue(failure.getMessage().contains("'ulimit -f' is "), failure.getMessage());
        }
    }

    @Test
    void otherErrorsAreOfInputOrOutput() {
        assertEquals(ExitCode.IO, javas(LinuxError.EIO).code());
        assertEquals(ExitCode.IO, ours(LinuxError.EIO).code());
        assertEquals(ExitCode.IO, Failure.of("cannot write", new IOException()).code());
        assertEquals(ExitCode.IO, Failure.of("cannot write", new IOException("ENOSPC.txt is odd")).code());
    }
}
