package org.udckpt.process.files;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.model.JobFile;

/** Saving files fires no event of who watches them, and breaks no lease. This process watches, and holds the leases. */
@Timeout(60)
class QuietFilesTest {
    private static final int INOTIFY_INIT1 = 294, INOTIFY_ADD_WATCH = 254, FIONREAD = 0x541b, ALL_EVENTS = 0xfff;
    private static final int F_SETSIG = 10, F_SETLEASE = 1024, F_GETLEASE = 1025, WRITE_LEASE = 1,
            IGNORED = 23 /* SIGURG */;

    @TempDir
    Path directory;
    private int inotify;

    @BeforeEach
    void watch() {
        inotify = (int) LinuxError.check(Syscall.call(INOTIFY_INIT1, Syscall.O_CLOEXEC | Syscall.O_NONBLOCK),
                "inotify_init1");
    }

    @AfterEach
    void close() {
        org.udckpt.linux.Files.close(inotify);
    }

    @Test
    void aTreeThatIsWatchedIsSavedUnnoticed() throws Exception {
        assumeTrue(User.id() == 0, "only root can hide from watches");
        Path sub = Files.createDirectory(directory.resolve("sub"));
        Path large = file("large", 3 << 20);
        byte[] content = Files.readAllBytes(large);
        List<Path> all = List.of(directory, sub, large, file("small", 4000), file("sub/named", 12));
        all.forEach(this::watch);
        FileRequest request = SavedFiles.named(directory.toString());
        SavedFiles saved = SavedFiles.of(request, cut -> {
            cut.openBy(quiet());
            SavedFiles.open(large, Syscall.O_WRONLY).accept(cut);
        }, () -> {});
        assertEquals(0, unread(), "bytes of events");
        assertEquals(3, saved.rows().stream().filter(JobFile.RegularFile.class::isInstance).count());
        Files.write(large, new byte[7]);
        saved.restore(false);
        assertArrayEquals(content, Files.readAllBytes(large));
    }

    @Test
    void whatReadingDoesNotTellIsWatchedByAnybody() throws Exception {
        Path file = file("written", 10);
        LinuxError.check(Syscall.call(INOTIFY_ADD_WATCH, inotify, Scratch.string(file.toString()), 2 /* IN_MODIFY */),
                "watch");
        org.udckpt.linux.Files.close((int) LinuxError.check(quiet().tryOpen(file.toString(), file.toString()), "open"));
        assertEquals(0, unread());
    }

    @Test
    void whereNobodyCanHideItIsRefused() throws Exception {
        assumeTrue(User.id() != 0, "root can");
        Path file = file("watched", 10);
        watch(file);
        QuietFiles quiet = quiet();
        FilesRefused refused = assertThrows(FilesRefused.class, () -> quiet.tryOpen(file.toString(), file.toString()));
        assertTrue(refused.getMessage().contains(file + " by inotify"), refused.getMessage());
        assertEquals(0, unread());
    }

    @Test
    void aWriteLeaseIsReadByItsHoldersDescriptor() throws Exception {
        Path file = file("leased", 70_000);
        byte[] content = Files.readAllBytes(file);
        int fd = leased(file, Syscall.O_RDWR);
        try {
            assertEquals(9, Syscall.call(Syscall.LSEEK, fd, 9, 0));
            FileCut.Readable own = new FileCut.Readable((int) ProcessHandle.current().pid(), fd);
            SavedFiles saved = SavedFiles.of(SavedFiles.OPEN, cut -> {
                cut.openBy(quiet());
                assertEquals(null, cut.opened(file.toString(), "/proc/self/fd/" + fd, Syscall.O_RDWR,
                        org.udckpt.linux.Files.stat(fd), own));
            }, () -> {});
            assertEquals(WRITE_LEASE, Syscall.call(Syscall.FCNTL, fd, F_GETLEASE));
            assertEquals(9, Syscall.call(Syscall.LSEEK, fd, 0, 1), "the position");
            assertEquals(JobFile.Cut.COPIED, saved.cut(file));
            org.udckpt.linux.Files.close(fd);
            Files.write(file, new byte[3]);
            saved.restore(false);
            assertArrayEquals(content, Files.readAllBytes(file));
        } finally {
            Syscall.call(Syscall.CLOSE, fd);
        }
    }

    /**
     * Each way to a file that would break the lease: open for writing only, by its name, below a pattern, too large.
     */
    @Test
    void whereThatCannotBeItIsRefusedAndKept() throws Exception {
        Path file = file("leased", 70_000);
        int fd = leased(file, Syscall.O_WRONLY);
        try {
            org.udckpt.linux.Files.Stat stat = org.udckpt.linux.Files.stat(fd);
            FileCut.Readable unused = new FileCut.Readable((int) ProcessHandle.current().pid(), fd);
            refused("for writing only", SavedFiles.OPEN,
                    cut -> tell(cut.opened(file.toString(), "/proc/self/fd/" + fd, Syscall.O_WRONLY, stat, null)));
            refused("--files-in-stop", SavedFiles.named(1000),
                    cut -> tell(cut.opened(file.toString(), "/proc/self/fd/" + fd, Syscall.O_RDWR, stat, unused)));
            refused("write lease on " + file, SavedFiles.OPEN, cut -> cut.mapped(file.toString(), stat.inode(), 1));
            refused("write lease on " + file, SavedFiles.named(directory.toString()), cut -> {});
            assertEquals(WRITE_LEASE, Syscall.call(Syscall.FCNTL, fd, F_GETLEASE));
        } finally {
            org.udckpt.linux.Files.close(fd);
        }
    }

    private void refused(String words, FileRequest request, java.util.function.Consumer<FileCut> stop) {
        FilesRefused refused = assertThrows(FilesRefused.class, () -> SavedFiles.of(request, cut -> {
            cut.openBy(quiet());
            stop.accept(cut);
        }, () -> {}));
        assertTrue(refused.getMessage().contains(words), refused.getMessage());
    }

    private static void tell(String refusal) {
        throw new FilesRefused(refusal);
    }

    private int leased(Path file, int flags) {
        int fd = org.udckpt.linux.Files.open(file.toString(), flags);
        LinuxError.check(Syscall.call(Syscall.FCNTL, fd, F_SETSIG, IGNORED), "F_SETSIG");
        LinuxError.check(Syscall.call(Syscall.FCNTL, fd, F_SETLEASE, WRITE_LEASE), "F_SETLEASE");
        return fd;
    }

    private void watch(Path path) {
        LinuxError.check(Syscall.call(INOTIFY_ADD_WATCH, inotify, Scratch.string(path.toString()), ALL_EVENTS),
                "watch " + path);
    }

    /** As a capture makes it, with what this process watches. */
    private QuietFiles quiet() {
        FileObservers observers = new FileObservers(FileLeases.now());
        observers.see(org.udckpt.linux.Proc.text("/proc/self/fdinfo/" + inotify));
        return new QuietFiles(observers);
    }

    private int unread() {
        LinuxError.check(Syscall.call(Syscall.IOCTL, inotify, FIONREAD, Scratch.data().address()), "FIONREAD");
        return Scratch.data().get(JAVA_INT, 0);
    }

    private Path file(String name, int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return Files.write(directory.resolve(name), content);
    }
}
