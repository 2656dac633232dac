package org.udckpt.process.restore;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.model.Privileges;

/** What a worker that is another user puts in the place of a file is not opened or cut by root. */
class NamedFilesTest {
    private static final int PID = 5000, SIZE = 4;

    @TempDir
    Path directory;
    private Path log;
    private Path victim;
    private OpenFile opened;

    @BeforeEach
    void aLogFile() throws IOException {
        directory = directory.toRealPath();
        log = Files.writeString(Files.createDirectory(directory.resolve("workers")).resolve("log"), "then");
        victim = Files.writeString(directory.resolve("victim"), "precious");
        var stat = org.udckpt.linux.Files.stat(log.toString());
        opened = new OpenFile(1, log.toString(), Syscall.O_WRONLY, SIZE, SIZE, 0644, stat.device(), stat.inode(),
                stat.modified(), 0);
        Files.writeString(log, "then and later");
    }

    private FileChecks checks(boolean otherUsers, List<JobFile> saved) {
        int[] ids = {33, 33, 33, 33};
        List<Privileges> privileges = otherUsers
                ? List.of(new Privileges.Credentials(PID, PID, ids, ids, new int[0], 0, 0, 0, 0, 0, 0)) : List.of();
        JobImage image = new JobImage(List.of(), List.of(), List.of(), List.of(), List.of(opened), List.of(), List.of(),
                null, null, List.of(), List.of(), List.of(), List.of(), List.of(),
                saved, privileges, List.of());
        return new FileChecks(image, _ -> fail("nothing is odd"),
                new NamedFiles(image, false, Map.of(), VerifiedFiles.NONE));
    }

    private void refused(FileChecks checks, String message) throws IOException {
        for (var action : List.<Runnable>of(checks::check, () -> checks.cutBack(""),
                () -> checks.cutBack("/proc/self/root"))) {
            RestoreException refused = assertThrows(RestoreException.class, action::run);
            assertEquals(RestoreException.Reason.FILE_CHANGED, refused.reason());
            assertTrue(refused.getMessage().contains(log.toString()) && refused.getMessage().contains(message),
                    refused.getMessage());
        }
        assertEquals("precious", Files.readString(victim));
    }

    @Test
    void theFileItselfIsCut() throws IOException {
        FileChecks checks = checks(true, List.of());
        checks.check();
        checks.cutBack("");
        assertEquals("then", Files.readString(log));
    }

    @Test
    void noLinkIsFollowed() throws IOException {
        Files.delete(log);
        Files.createSymbolicLink(log, victim);
        refused(checks(true, List.of()), "has become a symbolic link");
    }

    @Test
    void noLinkAboveIsFollowed() throws IOException {
        Files.move(log.getParent(), directory.resolve("away"));
        Files.createSymbolicLink(log.getParent(), directory.resolve("away"));
        refused(checks(true, List.of()), "has become a symbolic link");
    }

    @Test
    void anotherFileIsRefused() throws IOException {
        Files.delete(log);
        Files.createLink(log, victim);
        refused(checks(true, List.of()), "differs from the file at the checkpoint");
    }

    /** A restart has put it back, as a new file. */
    @Test
    void aFileThatWasSavedMayBeAnother() throws IOException {
        Files.move(log, directory.resolve("before"));
        Files.writeString(log, "then and later");
        FileChecks checks = checks(true,
                List.of(new JobFile.RegularFile(1, log.toString(), SIZE, 0644, 0, 0, 0, 0, 0, 0, JobFile.Cut.COPIED)));
        assertDoesNotThrow(() -> checks.cutBack(""));
        assertEquals("then", Files.readString(log));
    }

    /**
     * Nor for a job of one user: another one may be able to write to a directory above, and would lead root elsewhere.
     */
    @Test
    void noLinkIsFollowedForAJobOfOneUser() throws IOException {
        Files.delete(log);
        Files.createSymbolicLink(log, victim);
        refused(checks(false, List.of()), "has become a symbolic link");
    }

    /** Between the look and the use. */
    @Test
    void anExchangedFileIsRefused() throws IOException {
        FileChecks checks = checks(false, List.of());
        checks.check();
        Files.move(log, directory.resolve("then"));
        Files.writeString(log, "another one that is longer");
        RestoreException refused = assertThrows(RestoreException.class, () -> checks.cutBack(""));
        assertTrue(refused.getMessage().contains(log.toString())
                && refused.getMessage().contains("was replaced during the restart"), refused.getMessage());
        assertEquals("another one that is longer", Files.readString(log));
    }
}
