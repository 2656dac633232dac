package org.udckpt.support.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The directory of a login session as logind makes it: a tmpfs of the user's own, mode 0700, with a limit, which may be
 * full or read-only.
 */
class RuntimeRoomTest {
    @TempDir
    Path temp;

    private Path session;
    private Path shared;

    @BeforeEach
    void directories() throws Exception {
        session = Files.createDirectory(temp.resolve("session"));
        shared = Files.createDirectory(temp.resolve("shm"));
        Files.setAttribute(shared, "unix:mode", 01777);
    }

    @AfterEach
    void unmount() throws Exception {
        command("umount", session.toString());
    }

    @Test
    void aLoginsDirectoryIsUsed() throws Exception {
        mount("size=200m");
        Path place = choose();
        assertEquals(session.resolve("udckpt"), place);
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(place)));
    }

    @Test
    void aSmallOneIsLeftToTheSession() throws Exception {
        mount("size=1m");
        assertTrue(choose().startsWith(shared));
    }

    @Test
    void aFullOneIsPassedOver() throws Exception {
        mount("size=200m,nr_inodes=1");
        assertTrue(choose().startsWith(shared));
    }

    @Test
    void aReadOnlyOneIsPassedOver() throws Exception {
        mount("size=200m");
        assertEquals(0, command("mount", "-o", "remount,ro", session.toString()));
        assertTrue(choose().startsWith(shared));
    }

    private Path choose() {
        return new RuntimePlaces("", session.toString(), temp.resolve("no-logins").toString(), shared.toString())
                .choose();
    }

    private void mount(String options) throws Exception {
        assumeTrue(command("mount", "-t", "tmpfs", "-o", "mode=700," + options, "udckpt-test", session.toString()) == 0,
                "mounting a tmpfs is not permitted here");
    }

    private static int command(String... command) throws Exception {
        return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start().waitFor();
    }
}
