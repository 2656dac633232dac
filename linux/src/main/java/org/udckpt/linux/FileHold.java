package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.F_OFD_SETLK;
import static org.udckpt.linux.LinuxConstants.F_RDLCK;
import static org.udckpt.linux.LinuxConstants.F_WRLCK;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A lock on a file that belongs to one open of it (fcntl(2), F_OFD_SETLK): shared by those who use the file, exclusive
 * for the one who removes it. It excludes other threads, other processes, and on a network file system with locks other
 * hosts, and ends with the process at the latest.
 */
public final class FileHold implements AutoCloseable {
    private static final int LOCK_BYTES = 32;
    private static final int ENOLCK = 37;
    /**
     * A file system without locks. Nothing can be removed there either: whoever removes holds the lock of the
     * directory, which fails.
     */
    private static final Set<Integer> NO_LOCKS =
            Set.of(ENOLCK, LinuxError.EINVAL, LinuxError.ENOSYS, LinuxError.EOPNOTSUPP);

    /** -1: closed. */
    private int fd;

    private FileHold(int fd) {
        this.fd = fd;
    }

    /**
     * Holds a file together with others.
     *
     * @throws LinuxError ENOENT when it is not there, or is being removed
     */
    public static FileHold share(Folder folder, String name) {
        int fd = folder.openRegular(name, Syscall.O_RDONLY);
        try {
            long result = lock(fd, F_RDLCK);
            boolean removed = isHeld(result) || Files.stat(fd).links() == 0; // the second: the lock was waited for no
                                                                             // longer than the removal took
            if (removed) {
                throw new LinuxError("hold " + folder.below(name) + ", which is being removed", LinuxError.ENOENT);
            }
            if (!NO_LOCKS.contains((int) -result)) {
                LinuxError.check(result, "hold " + folder.below(name));
            }
            return new FileHold(fd);
        } catch (RuntimeException | Error e) {
            Files.close(fd);
            throw e;
        }
    }

    /** Holds a file alone; null: somebody holds it. */
    public static FileHold exclude(Folder folder, String name) {
        int fd = folder.openRegular(name, Syscall.O_RDWR);
        try {
            long result = lock(fd, F_WRLCK);
            if (isHeld(result)) {
                Files.close(fd);
                return null;
            }
            LinuxError.check(result, "lock " + folder.below(name));
            return new FileHold(fd);
        } catch (RuntimeException | Error e) {
            Files.close(fd);
            throw e;
        }
    }

    private static boolean isHeld(long result) {
        return result == -LinuxError.EAGAIN || result == -LinuxError.EACCES;
    }

    private static long lock(int fd, int type) {
        MemorySegment lock = Scratch.data().asSlice(0, LOCK_BYTES); // struct flock: of the whole file, pid 0
        lock.fill((byte) 0);
        lock.set(JAVA_SHORT, 0, (short) type);
        return Syscall.call(Syscall.FCNTL, fd, F_OFD_SETLK, lock.address());
    }

    /** Once: a reader is closed when all memory is in, and with its job. */
    @Override
    public synchronized void close() {
        if (fd >= 0) {
            Files.close(fd);
            fd = -1;
        }
    }
}
