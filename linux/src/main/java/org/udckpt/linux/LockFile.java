package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.F_GETLK;
import static org.udckpt.linux.LinuxConstants.F_SETLK;
import static org.udckpt.linux.LinuxConstants.F_UNLCK;
import static org.udckpt.linux.LinuxConstants.F_WRLCK;

import java.lang.foreign.MemorySegment;

/**
 * A file that is there to be locked, which nobody but its owner can open: a lock on a directory, or on a file that
 * others can open, is anybody's to hold. The lock (fcntl(2), F_SETLK) is the process's: it excludes other processes, on
 * other hosts of a network file system too, and goes when this process ends.
 */
public final class LockFile implements AutoCloseable {
    private static final int LOCK_BYTES = 32;
    private static final int OTHERS = 077;

    private final String path;
    private final int fd;

    private LockFile(String path, int fd) {
        this.path = path;
        this.fd = fd;
    }

    /**
     * Opens it, and makes it where it is not there.
     *
     * @throws UntrustedPath when it is no file that only this user (or root) can open
     */
    public static LockFile open(Folder folder, String name) {
        return checked(folder, name, openOrMake(folder, name));
    }

    /** The same, without making anything; null where it is not there. */
    public static LockFile openIfThere(Folder folder, String name) {
        try {
            return checked(folder, name, folder.openRegular(name, Syscall.O_RDWR));
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.ENOENT) {
                return null;
            }
            throw e;
        }
    }

    private static LockFile checked(Folder folder, String name, int fd) {
        Files.Stat stat = Files.stat(fd);
        if (User.isTrusted(stat.uid()) && (stat.mode() & OTHERS) == 0 && stat.links() <= 1) {
            return new LockFile(folder.below(name), fd);
        }
        Files.close(fd);
        throw new UntrustedPath("lock file " + folder.below(name) + " belongs to user " + stat.uid() + ", with mode "
                + Integer.toOctalString(stat.mode() & 07777) + " and " + stat.links()
                + " names: other users could hold it forever; remove it, or give another directory");
    }

    private static int openOrMake(Folder folder, String name) {
        while (true) {
            try {
                return folder.openRegular(name, Syscall.O_RDWR);
            } catch (LinuxError e) {
                if (e.errno() != LinuxError.ENOENT) {
                    throw e;
                }
            }
            try {
                return folder.create(name, Syscall.O_RDWR);
            } catch (LinuxError e) {
                if (e.errno() != LinuxError.EEXIST) { // somebody was first
                    throw e;
                }
            }
        }
    }

    /** False: another process has the lock. */
    public boolean tryLock() {
        long result = Syscall.call(Syscall.FCNTL, fd, F_SETLK, lock(F_WRLCK).address());
        if (result == -LinuxError.EAGAIN || result == -LinuxError.EACCES) {
            return false;
        }
        LinuxError.check(result, "lock " + path);
        return true;
    }

    /** The holder of the lock, for a message. */
    public String holder() {
        MemorySegment lock = lock(F_WRLCK);
        LinuxError.check(Syscall.call(Syscall.FCNTL, fd, F_GETLK, lock.address()), "ask who holds the lock " + path);
        if (lock.get(JAVA_SHORT, 0) == F_UNLCK) {
            return "a process that has just released it";
        }
        int pid = lock.get(JAVA_INT, 24);
        return pid > 0 ? "process " + pid + name(pid) : "a process on another host, or in another container";
    }

    private static String name(int pid) {
        try {
            return " (" + Proc.text("/proc/" + pid + "/comm").strip() + ")";
        } catch (LinuxError e) {
            return " (not on this host, or ended a moment ago)";
        }
    }

    private static MemorySegment lock(int type) {
        MemorySegment lock = Scratch.data().asSlice(0, LOCK_BYTES); // struct flock: of the whole file
        lock.fill((byte) 0);
        lock.set(JAVA_SHORT, 0, (short) type);
        return lock;
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
