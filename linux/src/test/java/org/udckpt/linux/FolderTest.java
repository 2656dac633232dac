package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.attack.AsUser;
import org.udckpt.attack.OrdinaryUser;

/** Directories by descriptor: what is done in one stays in it, and who may own the way to it. */
@Timeout(60)
class FolderTest {
    @TempDir
    Path temp;
    private Path directory;

    @BeforeEach
    void directory() throws IOException {
        directory = java.nio.file.Files.createDirectory(temp.toRealPath().resolve("d"));
    }

    private Path make(String name, String mode) throws IOException {
        Path made = java.nio.file.Files.createDirectory(directory.resolve(name));
        java.nio.file.Files.setPosixFilePermissions(made, PosixFilePermissions.fromString(mode));
        return made;
    }

    private static String refused(Path path, Trust trust) {
        return assertThrows(UntrustedPath.class, () -> Folder.reach(path.toString(), trust).close()).getMessage();
    }

    private static void reached(Path path, Trust trust) {
        try (Folder folder = Folder.reach(path.toString(), trust)) {
            assertEquals(path.toString(), folder.path());
            assertEquals(Files.stat(path.toString()), folder.stat());
        }
    }

    @Test
    void theWayBelongsToTheUserOrRootAndOthersDoNotWrite() throws IOException {
        reached(directory, Trust.OWN);
        Path open = make("open", "rwxrwxrwx");
        assertTrue(refused(open, Trust.OWN).contains(open + " can be written by everybody (mode 777)"));
        assertTrue(refused(open, Trust.GROUP).contains("written by everybody"));
        reached(open, Trust.ANY);
        java.nio.file.Files.setAttribute(open, "unix:mode", 01777);
        reached(open, Trust.OWN); // as /tmp
    }

    @Test
    void groupsWithOthersInThem() throws IOException {
        OrdinaryUser.requireRoot();
        Path group = make("group", "rwxrwx---");
        java.nio.file.Files.createDirectory(group.resolve("below"));
        reached(group.resolve("below"), Trust.OWN); // root's own, in which is nobody else
        java.nio.file.Files.setAttribute(group, "unix:gid", OrdinaryUser.STRANGER.uid());
        assertTrue(refused(group.resolve("below"), Trust.OWN).contains(group + " can be written by its group"),
                "the directory above is named");
        reached(group.resolve("below"), Trust.GROUP);
    }

    @Test
    void strangersDirectoriesAndLinks() throws IOException {
        OrdinaryUser.requireRoot();
        Path theirs = OrdinaryUser.STRANGER.own(make("theirs", "rwxr-xr-x"));
        assertTrue(refused(theirs, Trust.OWN).contains("belongs to user " + OrdinaryUser.STRANGER.uid()));
        reached(theirs, Trust.GROUP);
        Path sticky = make("sticky", "rwxrwxrwx");
        java.nio.file.Files.setAttribute(sticky, "unix:mode", 01777);
        Path own = java.nio.file.Files.createSymbolicLink(sticky.resolve("own"), directory);
        reached(own, Trust.OWN);
        Path link = java.nio.file.Files.createSymbolicLink(sticky.resolve("link"), directory);
        java.nio.file.Files.setAttribute(link, "unix:uid", OrdinaryUser.STRANGER.uid(),
                java.nio.file.LinkOption.NOFOLLOW_LINKS);
        for (Trust trust : Trust.values()) {
            assertTrue(refused(link, trust).contains("symbolic link " + link + " was made by user"), trust.name());
        }
    }

    @Test
    void linksOnTheWayAreFollowedAsOthersFollowThem() throws IOException {
        Path below = java.nio.file.Files.createDirectories(directory.resolve("a/b"));
        java.nio.file.Files.createSymbolicLink(directory.resolve("a/up"), Path.of("../a/./b"));
        reached(directory.resolve("a/up"), Trust.OWN);
        assertEquals(Files.stat(below.toString()), stat(directory.resolve("a/up")));
        java.nio.file.Files.createSymbolicLink(directory.resolve("round"), Path.of("round"));
        assertEquals(LinuxError.ELOOP,
                assertThrows(LinuxError.class, () -> Folder.reach(directory + "/round", Trust.ANY)).errno());
        java.nio.file.Files.createFile(directory.resolve("file"));
        assertEquals(LinuxError.ENOTDIR,
                assertThrows(LinuxError.class, () -> Folder.reach(directory + "/file", Trust.ANY)).errno());
        assertEquals(LinuxError.ENOENT,
                assertThrows(LinuxError.class, () -> Folder.reach(directory + "/nothing/x", Trust.ANY)).errno());
    }

    private static Files.Stat stat(Path path) {
        try (Folder folder = Folder.reach(path.toString(), Trust.OWN)) {
            return folder.stat();
        }
    }

    @Test
    void filesAreMadeForTheirOwnerWhateverTheMask() {
        int mask = (int) Syscall.call(Syscall.UMASK, 0777);
        try (Folder folder = Folder.open(directory.toString())) {
            int file = folder.create("file", Syscall.O_WRONLY);
            Files.close(file);
            assertEquals(0100600, folder.stat("file").mode());
            assertEquals(LinuxError.EEXIST,
                    assertThrows(LinuxError.class, () -> folder.create("file", Syscall.O_WRONLY)).errno());
            folder.makeSub("sub").close();
            assertEquals(0040700, folder.stat("sub").mode());
        } finally {
            Syscall.call(Syscall.UMASK, mask);
        }
    }

    /** Also for an ordinary user, whom the umask may keep out of his own directory. */
    @Test
    void directoriesAreMadeForTheirOwnerWhateverTheMask() throws Exception {
        OrdinaryUser.requireRoot();
        OrdinaryUser.OWNER.own(directory);
        java.nio.file.Files.setPosixFilePermissions(temp, PosixFilePermissions.fromString("rwxr-xr-x"));
        int mask = (int) Syscall.call(Syscall.UMASK, 0777);
        try (Folder folder = Folder.open(directory.toString())) {
            AsUser.call(OrdinaryUser.OWNER.uid(), () -> {
                folder.makeSub("own").close();
                folder.makeVisibleSub("hidden").close();
                Syscall.call(Syscall.UMASK, 0002);
                folder.makeVisibleSub("visible").close();
                return null;
            });
            assertEquals(0040700, folder.stat("own").mode());
            assertEquals(0040700, folder.stat("hidden").mode());
            assertEquals(0040755, folder.stat("visible").mode());
            assertEquals(OrdinaryUser.OWNER.uid(), folder.stat("own").uid());
        } finally {
            Syscall.call(Syscall.UMASK, mask);
        }
    }

    @Test
    void aNewFileGetsItsPlaceWhenItIsWhole() throws IOException {
        try (Folder folder = Folder.open(directory.toString())) {
            try (NewFile file = NewFile.beside(folder, "place")) {
                assertTrue(file.becomes("place"));
            }
            try (NewFile file = NewFile.beside(folder, "place")) {
                assertFalse(file.becomes("place"), "it is taken");
                file.replaces("place");
            }
            NewFile.visibleBeside(folder, "place").close();
            assertEquals(List.of("place"), folder.names(), "what is given no place goes");
            assertEquals(0100600, folder.stat("place").mode());
        }
    }

    @Test
    void onlyRegularFilesAreOpened() throws Exception {
        java.nio.file.Files.createFile(directory.resolve("file"));
        java.nio.file.Files.createSymbolicLink(directory.resolve("link"), directory.resolve("file"));
        java.nio.file.Files.createSymbolicLink(directory.resolve("dangling"), directory.resolve("made-by-nobody"));
        assertEquals(0,
                new ProcessBuilder("mkfifo", directory.resolve("fifo").toString()).inheritIO().start().waitFor());
        try (Folder folder = Folder.open(directory.toString())) {
            Files.close(folder.openRegular("file", Syscall.O_RDWR));
            for (String other : List.of("link", "dangling", "fifo")) {
                assertThrows(UntrustedPath.class, () -> folder.openRegular(other, Syscall.O_RDONLY), other);
                assertThrows(UntrustedPath.class, () -> folder.openRegular(other, Syscall.O_WRONLY), other);
            }
            assertThrows(LinuxError.class, () -> folder.create("dangling", Syscall.O_WRONLY));
            assertThrows(LinuxError.class, () -> folder.create("../outside", Syscall.O_WRONLY),
                    "a name that leads out");
            assertThrows(LinuxError.class, () -> folder.sub(".."));
        }
        assertFalse(java.nio.file.Files.exists(directory.resolve("made-by-nobody")));
    }

    /** A renamed file is still the one that is opened again. */
    @Test
    void aSecondOpenIsOfTheSameFile() throws IOException {
        try (Folder folder = Folder.open(directory.toString())) {
            int file = folder.create("file", Syscall.O_WRONLY);
            assertTrue(folder.rename("file", "elsewhere"));
            java.nio.file.Files.writeString(directory.resolve("file"), "another one");
            int again = Files.reopen(file, Syscall.O_RDONLY);
            assertTrue(Files.stat(again).isSame(folder.stat("elsewhere")));
            Files.close(again);
            Files.close(file);
        }
    }

    @Test
    void aTreeIsRemovedButNotWhatItsLinksLeadTo() throws IOException {
        Path outside = make("outside", "rwx------");
        java.nio.file.Files.writeString(outside.resolve("kept"), "kept");
        Path tree = make("tree", "rwx------");
        java.nio.file.Files.createDirectories(tree.resolve("a/b/c"));
        java.nio.file.Files.writeString(tree.resolve("a/b/file"), "gone");
        java.nio.file.Files.createSymbolicLink(tree.resolve("a/link"), outside);
        try (Folder folder = Folder.open(directory.toString())) {
            folder.removeTree("tree");
            folder.removeTree("tree"); // nothing to do
            java.nio.file.Files.createSymbolicLink(tree, outside);
            folder.removeTree("tree");
            assertEquals(List.of("outside"), folder.names());
        }
        assertArrayEquals(new String[]{"kept"}, outside.toFile().list());
    }

    @Test
    void aTreeIsNotRemovedBeyondItsFileSystem() throws Exception {
        OrdinaryUser.requireRoot();
        Path outside = make("outside", "rwx------");
        java.nio.file.Files.writeString(outside.resolve("kept"), "kept");
        Path mount = java.nio.file.Files.createDirectories(directory.resolve("tree/mount"));
        assertEquals(0, new ProcessBuilder("mount", "--bind", outside.toString(), mount.toString()).inheritIO().start()
                .waitFor());
        try (Folder folder = Folder.open(directory.toString())) {
            assertEquals(LinuxError.EXDEV, assertThrows(LinuxError.class, () -> folder.removeTree("tree")).errno());
        } finally {
            assertEquals(0, new ProcessBuilder("umount", mount.toString()).inheritIO().start().waitFor());
        }
        assertArrayEquals(new String[]{"kept"}, outside.toFile().list());
    }

    @Test
    void aTreeThatIsTooDeepIsNamed() throws IOException {
        Path deep = make("tree", "rwx------");
        for (int i = 0; i < 120; i++) {
            deep = java.nio.file.Files.createDirectory(deep.resolve("d"));
        }
        try (Folder folder = Folder.open(directory.toString())) {
            assertTrue(assertThrows(LinuxError.class, () -> folder.removeTree("tree")).getMessage()
                    .contains("directories in each other"));
        }
    }
}
