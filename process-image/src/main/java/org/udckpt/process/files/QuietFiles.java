package org.udckpt.process.files;

import static org.udckpt.linux.LinuxConstants.O_NOATIME;

import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.QuietOpen;
import org.udckpt.linux.Syscall;

/**
 * Opens files of a job for reading so that the job does not notice. Each file is first taken hold of without being
 * opened (O_PATH), and looked at: what is neither a regular file nor a directory is never opened. The time of the last
 * access stays where this user may leave it (O_NOATIME).
 */
public final class QuietFiles {
    private final FileObservers observers;

    public QuietFiles(FileObservers observers) {
        this.observers = observers;
    }

    FileObservers observers() {
        return observers;
    }

    /**
     * A descriptor for reading, or {@code -errno}; EINVAL: it is neither a file nor a directory.
     *
     * @param through a path by which the file is reached, which may be one of /proc/PID/fd
     * @param path its name, for its directory and for errors
     * @throws FilesRefused somebody would notice
     */
    public long tryOpen(String through, String path) {
        return tryOpen(Files.tryOpen(through, Syscall.O_PATH), path);
    }

    /** The same of a name that may not be a symbolic link. */
    long tryOpenNoFollow(String path) {
        return tryOpen(Files.tryOpen(path, Syscall.O_PATH | Syscall.O_NOFOLLOW), path);
    }

    /** The same of a name in a directory. */
    long tryOpen(Folder folder, String name) {
        return tryOpen(folder.tryOpenFile(name, Syscall.O_PATH), folder.below(name));
    }

    /** The directory {@code name} in {@code folder}, to be listed. */
    Folder sub(Folder folder, String name) {
        Files.Stat stat = folder.stat(name);
        if (stat == null || !observers.isWatched(stat, folder.below(name))) {
            return folder.sub(name);
        }
        try (Folder held = folder.holdSub(name)) {
            return Folder.of(held.path(),
                    (int) LinuxError.check(open(held.descriptor(), stat, held.path()), "open " + held.path()));
        }
    }

    /** @param handle O_PATH, or an error; it is closed */
    private long tryOpen(long handle, String path) {
        if (handle < 0) {
            return handle;
        }
        try {
            Files.Stat stat = Files.stat((int) handle);
            return stat.type() == Files.Stat.REGULAR || stat.type() == Files.Stat.DIRECTORY
                    ? open((int) handle, stat, path) : -LinuxError.EINVAL;
        } finally {
            Files.close((int) handle);
        }
    }

    private long open(int handle, Files.Stat stat, String path) {
        if (observers.hasLease(stat)) {
            throw new FilesRefused("another process has a write lease on " + path
                    + " (fcntl(2), F_SETLEASE; see /proc/locks), which opening the file would break: release it first,"
                    + " or exclude the file with --files-except");
        }
        String self = "/proc/self/fd/" + handle;
        if (observers.isWatched(stat, path)) {
            return quiet(self, path);
        }
        int flags = Syscall.O_RDONLY | Syscall.O_NONBLOCK;
        long fd = Files.tryOpen(self, flags | O_NOATIME);
        return fd == -LinuxError.EPERM ? Files.tryOpen(self, flags) : fd;
    }

    private static long quiet(String self, String path) {
        long fd = QuietOpen.tryOpen(self);
        if (fd == -LinuxError.EPERM || fd == -LinuxError.EINVAL || fd == -LinuxError.ENOSYS
                || fd == -LinuxError.EOPNOTSUPP) {
            throw new FilesRefused("the job watches " + path + " by inotify and would receive events of its own "
                    + "checkpoint, which only root can hide (fanotify_init(2): " + LinuxError.name((int) -fd)
                    + "): watch without IN_OPEN, IN_ACCESS and IN_CLOSE_NOWRITE, or exclude the file with "
                    + "--files-except");
        }
        return fd;
    }
}
