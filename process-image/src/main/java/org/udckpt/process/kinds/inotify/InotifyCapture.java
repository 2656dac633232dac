package org.udckpt.process.kinds.inotify;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.FIONREAD;

import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.FilesRefused;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.InotifyWatch;

/**
 * The watches of an inotify descriptor: fdinfo tells file handles (proc_pid_fdinfo(5)). What they lead to only root may
 * ask; for others names are tried ({@link WatchedNames}).
 */
final class InotifyCapture implements KindCapture {
    private static final int OPEN_BY_HANDLE_AT = 304;
    /** What a program can ask for: IN_ALL_EVENTS, IN_EXCL_UNLINK, IN_ONESHOT. */
    private static final int USERS = 0xfff | 0x0400_0000 | 0x8000_0000;

    private final CaptureScope scope;
    private final WatchedNames names;
    private boolean mayOpenHandles = true;

    InotifyCapture(CaptureScope scope) {
        this.scope = scope;
        this.names = new WatchedNames(scope);
    }

    @Override
    public void ask(AskedProcess caller, List<AskedProcess> processes) {
        names.ask(processes);
    }

    @Override
    public boolean takes(OpenDescriptor open) {
        return open.link().equals("anon_inode:inotify");
    }

    @Override
    public long read(OpenDescriptor open) {
        long id = scope.table().newId();
        for (String line : open.info().split("\n")) {
            if (line.startsWith("inotify wd:")) {
                scope.table().add(watch(open, id, WatchedFile.of(line)));
            }
        }
        if (unread(open) > 0) {
            scope.table().add(new FileNotice.LostEvents(id));
        }
        scope.table().add(new InotifyFd(id, open.openFlags()));
        return id;
    }

    private InotifyWatch watch(OpenDescriptor open, long id, WatchedFile file) {
        if (file.number() > InotifyWatch.NUMBER_MOST) {
            throw open.refuse("this inotify descriptor has watch " + file.number()
                    + "; the highest that can be restored is " + InotifyWatch.NUMBER_MOST);
        }
        String path = file.handle().length > 0 && mayOpenHandles ? byHandle(open, file) : null;
        path = path == null ? names.find(open, file) : path;
        path = path == null ? names.ofDescriptor(file) : path;
        if (path == null) {
            throw open.refuse("watch " + file.number() + " of this inotify descriptor is on a file " + (mayOpenHandles
                    ? "without a path, or on an invisible mount"
                    : "whose name was not found, as only root can ask for it (open_by_handle_at(2))")
                    + "; remove the watch first");
        }
        return new InotifyWatch(id, file.number(), path, file.mask() & USERS);
    }

    /** Bytes of events, which nobody can look at without taking them. */
    private static int unread(OpenDescriptor open) {
        return open.duplicated(same -> {
            LinuxError.check(Syscall.call(Syscall.IOCTL, same, FIONREAD, Scratch.data().address()),
                    "events of an inotify descriptor");
            return Scratch.data().get(JAVA_INT, 0);
        });
    }

    /** Each mount of its file system is tried; null: it is not found so. */
    private String byHandle(OpenDescriptor open, WatchedFile watched) {
        for (String mount : Proc.text("/proc/" + open.process().task() + "/mountinfo").split("\n")) {
            String[] fields = mount.split(" ");
            if (mayOpenHandles && fields.length > 4 && fields[2].equals(watched.deviceNumbers())) {
                String path = byHandle("/proc/" + open.process().task() + "/root" + fields[4], watched);
                if (path != null && !path.endsWith(" (deleted)") && sameFile(path, watched.inode())) {
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
