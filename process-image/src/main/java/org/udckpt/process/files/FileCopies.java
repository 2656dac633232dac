package org.udckpt.process.files;

import static org.udckpt.linux.LinuxConstants.MFD_CLOEXEC;

import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** Files without a name that hold what another one held at a moment. */
final class FileCopies {
    private static final long FICLONE = 0x4004_9409L;
    private static final int SEEK_SET = 0;

    private FileCopies() {}

    /** A reflink of {@code file} in the directory of {@code path}; -1: this file system, or this user there, cannot. */
    static int tryClone(int file, String path) {
        if (path == null || !path.startsWith("/")) {
            return -1;
        }
        int slash = path.lastIndexOf('/');
        long clone;
        try (Folder folder = Folder.hold(slash == 0 ? "/" : path.substring(0, slash))) {
            clone = folder.tryNameless();
        } catch (LinuxError cannotBeReached) {
            return -1; // the descriptor is there all the same: it is copied
        }
        if (clone < 0) {
            return -1;
        }
        if (Syscall.call(Syscall.IOCTL, clone, FICLONE, file) < 0) {
            Files.close((int) clone);
            return -1;
        }
        return (int) clone;
    }

    /** A copy in memory of the first {@code size} bytes. */
    static int copy(int file, String path, long size) {
        int copy =
                (int) LinuxError.check(Syscall.call(Syscall.MEMFD_CREATE, Scratch.string("udckpt-file"), MFD_CLOEXEC),
                        "memory for a copy of " + path);
        try {
            LinuxError.check(Syscall.call(Syscall.FTRUNCATE, copy, size), "memory for a copy of " + path);
            long[] extents = FileContents.extents(file, size, path);
            for (int i = 0; i < extents.length; i += 2) {
                LinuxError.check(Syscall.call(Syscall.LSEEK, copy, extents[i], SEEK_SET), "lseek");
                LinuxError.check(Syscall.call(Syscall.LSEEK, file, extents[i], SEEK_SET), "lseek in " + path);
                send(file, copy, path, Math.min(extents[i + 1], size) - extents[i]);
            }
            return copy;
        } catch (RuntimeException e) {
            Files.close(copy);
            throw e;
        }
    }

    /**
     * The same of a file that must not be opened, by a descriptor of the job's own: it shares its position with the
     * job, so that it is neither read nor sought but mapped, which also nobody hears of who watches the file.
     */
    static int copyMapped(int file, String path, long size) {
        int copy =
                (int) LinuxError.check(Syscall.call(Syscall.MEMFD_CREATE, Scratch.string("udckpt-file"), MFD_CLOEXEC),
                        "memory for a copy of " + path);
        try {
            LinuxError.check(Syscall.call(Syscall.FTRUNCATE, copy, size), "memory for a copy of " + path);
            if (size > 0) {
                long mapped = LinuxError.check(
                        Syscall.call(Syscall.MMAP, 0, size, 1 /* PROT_READ */, 2 /* MAP_PRIVATE */, file, 0),
                        "map " + path);
                try {
                    for (long done = 0; done < size;) {
                        done += LinuxError.check(Syscall.call(Syscall.PWRITE64, copy, mapped + done, size - done, done),
                                "copy of " + path);
                    }
                } finally {
                    Syscall.call(Syscall.MUNMAP, mapped, size);
                }
            }
            return copy;
        } catch (RuntimeException e) {
            Files.close(copy);
            throw e;
        }
    }

    private static void send(int from, int to, String path, long count) {
        for (long left = count; left > 0;) {
            long n = LinuxError.check(Syscall.call(Syscall.SENDFILE, to, from, 0, left), "copy of " + path);
            if (n == 0) {
                return;
            }
            left -= n;
        }
    }
}
