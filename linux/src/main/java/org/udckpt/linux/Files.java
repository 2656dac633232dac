package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.AT_SYMLINK_NOFOLLOW;
import static org.udckpt.linux.LinuxConstants.O_NOCTTY;
import static org.udckpt.linux.LinuxConstants.STATX_BTIME;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;

/** Descriptors of this process, by number. Failures are {@link LinuxError}s that name the path. */
public final class Files {
    /** What stat(2) says. Times in nanoseconds since 1970; {@code changed} is st_ctime. */
    public record Stat(long device, long inode, long links, int mode, int uid, int gid, long rawDevice, long size,
            long modified, long changed) {
        public static final int TYPE = 0170000, SOCKET = 0140000, LINK = 0120000, REGULAR = 0100000, BLOCK = 0060000,
                DIRECTORY = 0040000, CHARACTER = 0020000, FIFO = 0010000;

        public int type() {
            return mode & TYPE;
        }

        /** Whether it is of the same file. */
        public boolean isSame(Stat other) {
            return device == other.device && inode == other.inode;
        }

        /** For people, with an article. */
        public String kind() {
            return switch (type()) {
                case SOCKET -> "a socket";
                case LINK -> "a symbolic link";
                case REGULAR -> "a regular file";
                case BLOCK, CHARACTER -> "a device";
                case DIRECTORY -> "a directory";
                case FIFO -> "a FIFO";
                default -> "something else";
            };
        }
    }

    private static final int EMPTY_PATH = 0x1000;

    private Files() {}

    public static int open(String path, int flags) {
        return (int) LinuxError.check(tryOpen(path, flags), "open ", path);
    }

    /**
     * A descriptor, or {@code -errno}. Never takes a terminal for its own: that of a job would belong to udckpt's
     * session then.
     */
    public static long tryOpen(String path, int flags) {
        return Syscall.call(Syscall.OPENAT, AT_FDCWD, Scratch.string(path), flags | Syscall.O_CLOEXEC | O_NOCTTY, 0600);
    }

    public static void close(int fd) {
        LinuxError.check(Syscall.call(Syscall.CLOSE, fd), "close ", fd);
    }

    /** The target of a symbolic link, or null if it is gone. */
    public static String readLink(String path) {
        MemorySegment data = Scratch.data();
        long n = Syscall.call(Syscall.READLINK, Scratch.string(path), data.address(), 4096);
        if (n == -LinuxError.ENOENT || n == -LinuxError.ESRCH) {
            return null;
        }
        LinuxError.check(n, "readlink ", path);
        return RawText.decode(data.asSlice(0, n).toArray(JAVA_BYTE));
    }

    /** The target of a symbolic link that is open (O_PATH and O_NOFOLLOW). */
    public static String readLink(int link) {
        MemorySegment data = Scratch.data();
        long n = LinuxError.check(Syscall.call(Syscall.READLINKAT, link, Scratch.string(""), data.address(), 4096),
                "readlink of descriptor ", link);
        return RawText.decode(data.asSlice(0, n).toArray(JAVA_BYTE));
    }

    /**
     * Opens the file of a descriptor a second time, with other flags: by /proc/self/fd, so that whoever has renamed it
     * or put another one in its place changes nothing.
     *
     * @throws LinuxError also when what is opened is another file: /proc is not the kernel's
     */
    public static int reopen(int fd, int flags) {
        int again = open(ofDescriptor(fd), flags);
        try {
            if (!stat(again).isSame(stat(fd))) {
                throw new LinuxError("open " + ofDescriptor(fd) + ": the file was replaced", LinuxError.EBADF);
            }
            return again;
        } catch (RuntimeException | Error e) {
            close(again);
            throw e;
        }
    }

    /**
     * A channel of the file of a descriptor, by a second open of it (see {@link #reopen}): it is used when the
     * descriptor is closed, too.
     *
     * @throws IOException also where /proc is not the kernel's
     */
    public static FileChannel channel(int fd, OpenOption... how) throws IOException {
        String name = ofDescriptor(fd);
        if (!stat(name).isSame(stat(fd))) {
            throw new IOException(name + " differs from the file of descriptor " + fd + ": /proc is not procfs");
        }
        return FileChannel.open(Path.of(name), how);
    }

    /** The name by which this process can open the file of a descriptor again, whatever has become of its own name. */
    public static String ofDescriptor(int fd) {
        return "/proc/self/fd/" + fd;
    }

    /** Follows links, also the magic ones of /proc/PID/fd. */
    public static Stat stat(String path) {
        MemorySegment data = Scratch.data();
        LinuxError.check(Syscall.call(Syscall.STAT, Scratch.string(path), data.address()), "stat ", path);
        return stat(data);
    }

    /** As {@link #stat(String)}, or null if there is nothing of this name that may be looked at. */
    public static Stat tryStat(String path) {
        MemorySegment data = Scratch.data();
        return Syscall.call(Syscall.STAT, Scratch.string(path), data.address()) < 0 ? null : stat(data);
    }

    /** As {@link #tryStat(String)}, of a symbolic link itself (lstat(2)). */
    public static Stat tryLinkStat(String path) {
        MemorySegment data = Scratch.data();
        return Syscall.call(Syscall.NEWFSTATAT, AT_FDCWD, Scratch.string(path), data.address(), AT_SYMLINK_NOFOLLOW) < 0
                ? null : stat(data);
    }

    public static Stat stat(int fd) {
        MemorySegment data = Scratch.data();
        LinuxError.check(Syscall.call(Syscall.FSTAT, fd, data.address()), "fstat of descriptor ", fd);
        return stat(data);
    }

    /**
     * When the file of a descriptor was made, in nanoseconds since 1970; 0: its file system does not say. Nobody can
     * set it (statx(2), STATX_BTIME).
     */
    public static long born(int fd) {
        MemorySegment data = Scratch.data();
        long result = Syscall.call(Syscall.STATX, fd, Scratch.string(""), EMPTY_PATH, STATX_BTIME, data.address());
        return result < 0 || (data.get(JAVA_INT, 0) & STATX_BTIME) == 0 ? 0
                : data.get(JAVA_LONG, 80) * 1_000_000_000L + data.get(JAVA_INT, 88);
    }

    /** struct stat of x86-64 (asm/stat.h). */
    static Stat stat(MemorySegment s) {
        return new Stat(s.get(JAVA_LONG, 0), s.get(JAVA_LONG, 8), s.get(JAVA_LONG, 16), s.get(JAVA_INT, 24),
                s.get(JAVA_INT, 28), s.get(JAVA_INT, 32),
                s.get(JAVA_LONG, 40), s.get(JAVA_LONG, 48), time(s, 88), time(s, 104));
    }

    private static long time(MemorySegment stat, long at) {
        return stat.get(JAVA_LONG, at) * 1_000_000_000L + stat.get(JAVA_LONG, at + 8);
    }

    /**
     * Mode, time of modification and owner of an open file or directory, or of one that is only held (O_PATH).
     *
     * @param uid -1: it stays; {@code gid} too
     * @param modifiedNs since 1970; 0: it stays
     */
    public static void attributes(int file, String path, int uid, int gid, int mode, long modifiedNs) {
        String self = "/proc/self/fd/" + file; // O_PATH takes no fchmod(2)
        Stat now = stat(file);
        if (uid >= 0 && now.uid() != uid || gid >= 0 && now.gid() != gid) {
            LinuxError.check(Syscall.call(Syscall.FCHOWNAT, AT_FDCWD, Scratch.string(self), uid, gid, 0),
                    "give " + path + " to user " + uid + ", group " + gid);
        }
        // after the owner, which takes set-user-id away
        LinuxError.check(Syscall.call(Syscall.FCHMODAT, AT_FDCWD, Scratch.string(self), mode & 07777), "chmod " + path);
        if (modifiedNs == 0) {
            return;
        }
        MemorySegment times = Scratch.data().asSlice(0, 32); // struct timespec[2]
        times.set(JAVA_LONG, 0, 0);
        times.set(JAVA_LONG, 8, 0x3ffffffeL); // UTIME_OMIT: the time of the last access stays
        times.set(JAVA_LONG, 16, Math.floorDiv(modifiedNs, 1_000_000_000L));
        times.set(JAVA_LONG, 24, Math.floorMod(modifiedNs, 1_000_000_000L));
        LinuxError.check(Syscall.call(Syscall.UTIMENSAT, AT_FDCWD, Scratch.string(self), times.address(), 0),
                "set the time of " + path);
    }
}
