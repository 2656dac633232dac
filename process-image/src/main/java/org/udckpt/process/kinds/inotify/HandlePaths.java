package org.udckpt.process.kinds.inotify;

import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.FilesRefused;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.OpenDescriptor;

/** Finds watched files by their handles, which only root may open (open_by_handle_at(2)). */
final class HandlePaths {
    private static final int OPEN_BY_HANDLE_AT = 304;

    private final CaptureScope scope;
    private boolean mayOpenHandles = true;

    HandlePaths(CaptureScope scope) {
        this.scope = scope;
    }

    /** Whether this process may open files so, as far as it has tried. */
    boolean may() {
        return mayOpenHandles;
    }

    /** Each mount of its file system is tried; null: it is not found so. */
    String find(OpenDescriptor open, WatchedFile watched) {
        for (String mount : Proc.text("/proc/" + open.process().task() + "/mountinfo").split("\n")) {
            String[] fields = mount.split(" ");
            if (mayOpenHandles && fields.length > 4 && fields[2].equals(watched.deviceNumbers())) {
                String path = byHandle("/proc/" + open.process().task() + "/root" + fields[4], watched);
                if (path != null && !path.endsWith(" (deleted)")
                        && sameFile(open.process().seen(path), watched.inode())) {
                    return path;
                }
            }
        }
        return null;
    }

    /** A symbolic link may be watched itself (IN_DONT_FOLLOW). */
    private static boolean sameFile(String path, long inode) {
        long file = Files.tryOpen(path, Syscall.O_PATH | Syscall.O_NOFOLLOW | Syscall.O_CLOEXEC);
        if (file < 0) {
            return false;
        }
        try {
            return Files.stat((int) file).inode() == inode;
        } finally {
            Files.close((int) file);
        }
    }

    /** Null: not on this mount. */
    private String byHandle(String mount, WatchedFile watched) {
        long root = openQuietly(mount);
        if (root < 0) {
            return null;
        }
        try {
            long file = Syscall.call(OPEN_BY_HANDLE_AT, root, watched.handleStruct().address(),
                    Syscall.O_PATH | Syscall.O_CLOEXEC);
            mayOpenHandles = file != -LinuxError.EPERM;
            if (file < 0) {
                return null;
            }
            try {
                return Files.readLink("/proc/self/fd/" + file);
            } finally {
                Files.close((int) file);
            }
        } finally {
            Files.close((int) root);
        }
    }

    /** {@code -EACCES} also where the job would notice: then names have to do. */
    private long openQuietly(String directory) {
        try {
            return scope.quiet().tryOpen(directory, directory);
        } catch (FilesRefused watched) {
            return -LinuxError.EACCES;
        }
    }
}
