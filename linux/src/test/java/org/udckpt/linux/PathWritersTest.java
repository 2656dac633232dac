package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.attack.OrdinaryUser;

/** Users that are found to be able to exchange a file. Only root can give a file another owner. */
class PathWritersTest {
    private static final String STRANGER = "user:" + OrdinaryUser.STRANGER.uid();

    @TempDir
    Path temporary;
    private Path above;
    private Path directory;
    private Path file;

    @BeforeEach
    void aFile() throws IOException {
        above = temporary.toRealPath().resolve("above");
        directory = Files.createDirectories(above.resolve("directory"));
        file = Files.writeString(directory.resolve("file"), "x");
        mode(above, "rwxr-xr-x");
        mode(directory, "rwxr-xr-x");
        mode(file, "rw-r--r--");
    }

    private static void mode(Path path, String mode) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    }

    private static void sticky(Path path) throws IOException {
        Files.setAttribute(path, "unix:mode", 01777);
    }

    private static String writers(Path path) {
        try (PathWriters paths = new PathWriters(); FoundFile found = paths.find(path.toString())) {
            assertEquals(found.writers().text().contains(found.own().text()), true,
                    "whoever writes to the file is among all");
            return found.writers().text();
        }
    }

    @Test
    void nobodyButTheUser() {
        assertEquals("", writers(file));
        assertEquals("", writers(Path.of("/proc/self/exe").toAbsolutePath()));
    }

    @Test
    void modesOfTheFile() throws IOException {
        mode(file, "rw-rw-r--");
        assertEquals("group:" + Files.getAttribute(file, "unix:gid"), writers(file));
        mode(file, "rw-r--rw-");
        assertEquals("everybody", writers(file));
    }

    @Test
    void modesOfEachDirectoryAbove() throws IOException {
        mode(directory, "rwxrwxr-x");
        assertEquals("group:" + Files.getAttribute(directory, "unix:gid"), writers(file));
        mode(directory, "rwxr-xr-x");
        mode(above, "rwxr-xrwx");
        assertEquals("everybody", writers(file));
    }

    @Test
    void aStickyDirectoryProtectsWhatIsTheUsers() throws IOException {
        OrdinaryUser.requireRoot();
        sticky(above);
        sticky(directory);
        assertEquals("", writers(file));
        OrdinaryUser.STRANGER.own(file);
        assertEquals(STRANGER, writers(file));
        OrdinaryUser.STRANGER.own(directory);
        assertEquals(STRANGER, writers(file));
        Files.setAttribute(file, "unix:uid", 0);
        assertEquals(STRANGER, writers(file), "the owner of a sticky directory may remove what is in it");
    }

    @Test
    void aStrangersLinkIsSeen() throws IOException {
        OrdinaryUser.requireRoot();
        sticky(above);
        Path link = Files.createSymbolicLink(above.resolve("link"), directory);
        assertEquals("", writers(link.resolve("file")));
        Files.setAttribute(link, "unix:uid", OrdinaryUser.STRANGER.uid(), java.nio.file.LinkOption.NOFOLLOW_LINKS);
        assertEquals(STRANGER, writers(link.resolve("file")));
    }

    @Test
    void linksAndDotsLeadWhereTheKernelGoes() throws IOException {
        Path link = Files.createSymbolicLink(above.resolve("link"), Path.of("directory/../directory"));
        try (PathWriters paths = new PathWriters(); FoundFile found = paths.find(link + "/./file");
                FoundFile again = paths.find(file.toString())) {
            assertTrue(found.stat().isSame(org.udckpt.linux.Files.stat(file.toString()))
                    && again.stat().isSame(found.stat()));
        }
        Path endless = Files.createSymbolicLink(above.resolve("endless"), Path.of("endless"));
        try (PathWriters paths = new PathWriters()) {
            assertEquals(LinuxError.ELOOP, assertThrows(LinuxError.class, () -> paths.find(endless + "/file")).errno());
            assertEquals(LinuxError.ENOTDIR, assertThrows(LinuxError.class, () -> paths.find(file + "/file")).errno());
            assertEquals(LinuxError.ENOENT,
                    assertThrows(LinuxError.class, () -> paths.find(directory + "/none")).errno());
        }
    }

    @Test
    void whatWasFoundStaysWhatItIs() throws IOException {
        try (PathWriters paths = new PathWriters(); FoundFile found = paths.find(file.toString())) {
            Files.move(file, directory.resolve("away"));
            Files.writeString(file, "another");
            int fd = found.reopen(Syscall.O_RDONLY);
            try {
                assertTrue(org.udckpt.linux.Files.stat(fd)
                        .isSame(org.udckpt.linux.Files.stat(directory.resolve("away").toString())));
                assertFalse(org.udckpt.linux.Files.stat(fd).isSame(org.udckpt.linux.Files.stat(file.toString())));
            } finally {
                org.udckpt.linux.Files.close(fd);
            }
        }
    }

    @Test
    void whoHasMountedAFileSystemOfAProcess() {
        String mounts = """
                22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
                40 22 0:52 / /home/u/far rw,nosuid,nodev,relatime shared:9 - \
                fuse.sshfs u@host: rw,user_id=1000,group_id=1000
                41 22 0:53 / /cvmfs/x rw - fuse cvmfs2 ro,user_id=0,group_id=0,allow_other
                """;
        assertEquals("gid=5,mode=620", Mounts.terminals("""
                25 30 0:22 / /dev/pts rw,nosuid,noexec,relatime shared:4 - devpts devpts rw,gid=5,mode=620,ptmxmode=000
                26 30 0:23 / /mnt/pts rw - devpts devpts rw,gid=7,mode=600
                """));
        assertEquals("", Mounts.terminals("25 30 0:22 / /dev rw - tmpfs tmpfs rw,gid=5\n"));
        assertEquals(1000, Mounts.fuseOwner(mounts, 52));
        assertEquals(0, Mounts.fuseOwner(mounts, 53));
        assertEquals(Mounts.UNKNOWN, Mounts.fuseOwner(mounts, 54));
        assertEquals(Mounts.UNKNOWN, Mounts.fuseOwner(mounts, 0x801));
    }

    @Test
    void whoIsNew() {
        Writers writers = Writers.NOBODY.with("user:5", "/a").with("group:7", "/b");
        assertEquals("group:7 user:5", writers.text());
        assertEquals("user 5 (/a)", writers.beside("group:7").toString());
        assertTrue(writers.beside("group:7 user:5").nobody() && writers.beside("everybody").nobody());
        assertEquals(writers.text(), writers.beside("").text());
    }
}
