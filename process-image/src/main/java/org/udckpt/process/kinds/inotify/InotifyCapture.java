package org.udckpt.process.kinds.inotify;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.FIONREAD;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.files.QuietFiles;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.InotifyWatch;

/**
 * The watches of an inotify descriptor: fdinfo tells file handles (proc_pid_fdinfo(5)), whose paths only root may ask
 * for.
 */
final class InotifyCapture implements KindCapture {
    private static final int OPEN_BY_HANDLE_AT = 304;
    /** What a program can ask for: IN_ALL_EVENTS, IN_EXCL_UNLINK, IN_ONESHOT. */
    private static final int USERS = 0xfff | 0x0400_0000 | 0x8000_0000;

    private final CaptureScope scope;

    InotifyCapture(CaptureScope scope) {
        this.scope = scope;
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
                scope.table().add(watch(open, id, line.strip().split("[\\s:]+"), scope.quiet()));
            }
        }
        if (unread(open) > 0) {
            scope.table().add(new FileNotice.LostEvents(id));
        }
        scope.table().add(new InotifyFd(id, open.openFlags()));
        return id;
    }

    /**
     * Words: inotify, wd, hex, ino, hex, sdev, hex, mask, hex, ignored_mask, hex, fhandle-bytes, hex, fhandle-type,
     * hex, f_handle, hex.
     */
    private static InotifyWatch watch(OpenDescriptor open, long id, String[] words, QuietFiles quiet) {
        int number = Integer.parseInt(words[2], 16);
        if (number > InotifyWatch.NUMBER_MOST) {
            throw open.refuse("this inotify descriptor has watch " + number + "; the highest that can be restored is "
                    + InotifyWatch.NUMBER_MOST);
        }
        if (words.length < 17) {
            throw open.refuse("watch " + number
                    + " of this inotify descriptor is on a file system without file handles, so its path cannot be "
                    + "found; remove the watch first");
        }
        String path = path(open, number, Long.parseLong(words[4], 16), Long.parseLong(words[6], 16),
                Integer.parseInt(words[14], 16), HexFormat.of().parseHex(words[16]), quiet);
        return new InotifyWatch(id, number, path, Integer.parseUnsignedInt(words[8], 16) & USERS);
    }

    /** Bytes of events, which nobody can look at without taking them. */
    private static int unread(OpenDescriptor open) {
        return open.duplicated(same -> {
            LinuxError.check(Syscall.call(Syscall.IOCTL, same, FIONREAD, Scratch.data().address()),
                    "events of an inotify descriptor");
            return Scratch.data().get(JAVA_INT, 0);
        });
    }

    /** {@code device} as the kernel has it: 20 bits for the minor number. Each mount of that file system is tried. */
    private static String path(
            OpenDescriptor open, int number, long inode, long device, int type, byte[] handle, QuietFiles quiet) {
        String wanted = (device >> 20) + ":" + (device & 0xfffff);
        for (String mount : Proc.text("/proc/" + open.process().pid() + "/mountinfo").split("\n")) {
            String[] fields = mount.split(" ");
            if (fields.length > 4 && fields[2].equals(wanted)) {
                String path =
                        path(open, number, "/proc/" + open.process().pid() + "/root" + fields[4], type, handle, quiet);
                if (path != null && !path.endsWith(" (deleted)") && sameFile(path, inode)) {
                    return path;
                }
            }
        }
        throw open.refuse("watch " + number
                + " of this inotify descriptor is on a file without a path, or on an invisible "
                + "mount; remove the watch first");
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
    private static String path(
            OpenDescriptor open, int number, String mount, int type, byte[] bytes, QuietFiles quiet) {
        long root = quiet.tryOpen(mount, mount);
        if (root < 0) {
            return null;
        }
        try {
            MemorySegment handle = Scratch.data();
            handle.set(JAVA_INT, 0, bytes.length);
            handle.set(JAVA_INT, 4, type);
            MemorySegment.copy(bytes, 0, handle, JAVA_BYTE, 8, bytes.length);
            long file = Syscall.call(OPEN_BY_HANDLE_AT, root, handle.address(), Syscall.O_PATH | Syscall.O_CLOEXEC);
            if (file == -LinuxError.EPERM) {
                throw open.refuse("watch " + number
                        + " of this inotify descriptor can be saved only by root (open_by_handle_at(2)); remove the "
                        + "watch first");
            }
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
}
