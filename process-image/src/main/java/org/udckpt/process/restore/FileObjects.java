package org.udckpt.process.restore;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.KernelObject;

/** Opens files again as they were open. */
final class FileObjects {
    /** Flags of open(2) that act once, when a file is opened; O_NOCTTY is always right here. */
    private static final int ONCE = Syscall.O_CREAT | Syscall.O_EXCL | Syscall.O_TRUNC;
    private static final int O_NOCTTY = 0400;
    private static final int FLOCK = 73, LOCK_NB = 4, F_SETFL = 4, F_SETLK = 6, F_DUPFD_CLOEXEC = 1030, F_OFD_SETLK = 37, F_SETLEASE = 1024;

    private FileObjects() {}

    static long open(Puppet maker, KernelObject.OpenFile file, Handles handles, NamedFiles names) {
        if (file.backing() == 0) {
            return named(maker, file, names);
        }
        // A second open file description of the same inode, which may have no name (proc(5), /proc/PID/fd).
        // That path is a symbolic link, which O_NOFOLLOW (SQLite, Python's tempfile) would refuse.
        String path = "/proc/self/fd/" + handles.in(maker, file.backing());
        int flags = kept(file.flags()) & ~Syscall.O_NOFOLLOW;
        return at(maker, path, maker.tryCall(Syscall.OPEN, maker.string(path), flags, 0), file.position());
    }

    /** The descriptor with which its memory was made. */
    static long first(Puppet maker, KernelObject.OpenFile file, Handles handles) {
        long fd = maker.call("dup " + file.path(), Syscall.FCNTL, handles.in(maker, file.backing()), F_DUPFD_CLOEXEC, 0);
        maker.call("flags of " + file.path(), Syscall.FCNTL, fd, F_SETFL, file.flags());
        return at(maker, file.path(), fd, file.position());
    }

    /** What was looked at is a file; what has its name now may be a FIFO, for whose other end an open would wait. */
    private static long named(Puppet maker, KernelObject.OpenFile file, NamedFiles names) {
        boolean waits = names.verified(file.path()) && (file.flags() & Syscall.O_NONBLOCK) == 0;
        long fd = at(maker, file.path(), names.tryOpen(maker, file.path(), kept(file.flags()) | (waits ? Syscall.O_NONBLOCK : 0), 0), 0);
        names.verify(file, NamedFiles.stat(maker, fd));
        if (waits) {
            maker.call("clear O_NONBLOCK of " + file.path(), Syscall.FCNTL, fd, 4 /* F_SETFL */, kept(file.flags()));
        }
        return at(maker, file.path(), fd, file.position());
    }

    /** Takes a lock again that the job held; in the process that is to own it. */
    static void lock(Puppet puppet, int fd, KernelObject.FileLock lock) {
        long result = switch (lock.owner()) {
            case FLOCK -> puppet.tryCall(FLOCK, fd, (lock.exclusive() ? 2 : 1) | LOCK_NB);
            case PROCESS -> puppet.tryCall(Syscall.FCNTL, fd, F_SETLK, range(puppet, lock));
            case DESCRIPTION -> puppet.tryCall(Syscall.FCNTL, fd, F_OFD_SETLK, range(puppet, lock));
        };
        if (result < 0) {
            throw puppet.changed("cannot lock the file of descriptor " + fd + " again: " + LinuxError.name((int) -result) + "; another process may hold the lock");
        }
    }

    /** Takes a lease again (fcntl(2), F_SETLEASE); in a process that has the file, which is the owner where nobody else was named. */
    static void lease(Puppet puppet, int fd, boolean exclusive) {
        long result = puppet.tryCall(Syscall.FCNTL, fd, F_SETLEASE, exclusive ? 1 /* F_WRLCK */ : 0 /* F_RDLCK */);
        if (result < 0) {
            throw puppet.changed("cannot take the lease on the file of descriptor " + fd + " again: " + LinuxError.name((int) -result) + "; another process may have it open");
        }
    }

    /** struct flock: type, whence, start, length, pid (0 for F_OFD_SETLK). */
    private static long range(Puppet puppet, KernelObject.FileLock lock) {
        return puppet.structure().i16(lock.exclusive() ? 1 : 0).i16(0).i32(0).i64(lock.start()).i64(lock.length()).i64(0).put();
    }

    static long open(Puppet maker, String path, int flags, long position, NamedFiles names) {
        return at(maker, path, names.tryOpenSeen(maker, path, kept(flags)), position);
    }

    /** A file of O_TMPFILE, which includes O_DIRECTORY, is opened again as the file that it is. */
    private static int kept(int flags) {
        return ((flags & Syscall.O_TMPFILE) == Syscall.O_TMPFILE ? flags & ~Syscall.O_TMPFILE : flags) & ~ONCE | O_NOCTTY;
    }

    private static long at(Puppet maker, String path, long fd, long position) {
        if (fd < 0) {
            throw maker.changed("cannot open " + path + " again: " + LinuxError.name((int) -fd));
        }
        if (position != 0) {
            maker.call("seek in " + path, Syscall.LSEEK, fd, position, 0);
        }
        return fd;
    }
}
