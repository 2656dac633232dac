package org.udckpt.process.kinds.mount;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.AT_EMPTY_PATH;
import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.AT_NO_AUTOMOUNT;
import static org.udckpt.linux.LinuxConstants.AT_RECURSIVE;
import static org.udckpt.linux.LinuxConstants.MOVE_MOUNT_F_EMPTY_PATH;
import static org.udckpt.linux.LinuxConstants.MOVE_MOUNT_SET_GROUP;
import static org.udckpt.linux.LinuxConstants.MOVE_MOUNT_T_EMPTY_PATH;
import static org.udckpt.linux.LinuxConstants.OPEN_TREE_CLONE;
import static org.udckpt.linux.LinuxConstants.RESOLVE_BENEATH;
import static org.udckpt.linux.LinuxConstants.RESOLVE_NO_MAGICLINKS;
import static org.udckpt.linux.LinuxConstants.RESOLVE_NO_SYMLINKS;
import static org.udckpt.linux.LinuxConstants.RESOLVE_NO_XDEV;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** Calls that make mounts, with descriptors of this process (mount_setattr(2), move_mount(2), open_tree(2)). */
final class MountCalls {
    private static final int HOW = 24, ATTRIBUTES = 32;

    private MountCalls() {}

    /** A call by a thread, or by this one where that is null. */
    static long by(MountThread thread, long call, long... arguments) {
        if (thread != null) {
            return thread.call(call, arguments);
        }
        long[] six = Arrays.copyOf(arguments, 6);
        return Syscall.call(call, six[0], six[1], six[2], six[3], six[4], six[5]);
    }

    /** What a thread has under a path, and nothing that a symbolic link leads to; a descriptor that only names it. */
    static int open(MountThread thread, String path) {
        return (int) LinuxError.check(
                thread.call(Syscall.OPENAT2, AT_FDCWD, Scratch.string(path), how(RESOLVE_NO_SYMLINKS), HOW),
                "open " + path);
    }

    /** What is below a mount's root directory and not on another mount. @param path begins with a slash */
    static int beneath(int mount, String path) {
        return beneath(mount, path, RESOLVE_NO_XDEV);
    }

    /** The same, or what is mounted on that. */
    static int along(int mount, String path) {
        return beneath(mount, path, 0);
    }

    private static int beneath(int mount, String path, long resolve) {
        return (int) LinuxError.check(Syscall.call(Syscall.OPENAT2, mount,
                Scratch.string(path.equals("/") ? "." : path.substring(1)),
                how(RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | resolve), HOW), "open " + path);
    }

    /** struct open_how */
    private static long how(long resolve) {
        MemorySegment how = Scratch.data().asSlice(0, HOW);
        how.set(JAVA_LONG, 0, Syscall.O_PATH | Syscall.O_CLOEXEC | Syscall.O_NOFOLLOW);
        how.set(JAVA_LONG, 8, 0);
        how.set(JAVA_LONG, 16, RESOLVE_NO_MAGICLINKS | resolve);
        return how.address();
    }

    /**
     * A copy of the mount on which something is that is open, with this as its root; it is mounted nowhere.
     *
     * @param whole with what is mounted on it
     */
    static int copy(MountThread thread, int opened, String what, boolean whole) {
        return (int) LinuxError.check(thread.call(Syscall.OPEN_TREE, opened, Scratch.string(""),
                AT_EMPTY_PATH | OPEN_TREE_CLONE | AT_NO_AUTOMOUNT | Syscall.O_CLOEXEC | (whole ? AT_RECURSIVE : 0)),
                "copy the mount of " + what);
    }

    /** Mounts it on what {@code onto} names. */
    static void attach(MountThread thread, int mount, int onto, String what) {
        LinuxError.check(thread.call(Syscall.MOVE_MOUNT, mount, Scratch.string(""), onto, Scratch.second(""),
                MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH), "mount " + what);
    }

    /** It shares mounts with another one, and receives them from where that does. {@code -errno}. */
    static long join(MountThread thread, int group, int mount) {
        return thread.call(Syscall.MOVE_MOUNT, group, Scratch.string(""), mount, Scratch.second(""),
                MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH | MOVE_MOUNT_SET_GROUP);
    }

    /** @param propagation MS_PRIVATE and the like; 0: as it is */
    static void change(MountThread thread, int mount, long set, long clear, long propagation, String what) {
        LinuxError.check(changed(thread, mount, set, clear, propagation),
                "change the mount at " + what + " (Linux 5.12)");
    }

    /** The same; false: this may not be changed. */
    static boolean tryChange(MountThread thread, int mount, long set, long clear, long propagation) {
        return changed(thread, mount, set, clear, propagation) != -LinuxError.EPERM;
    }

    private static long changed(MountThread thread, int mount, long set, long clear, long propagation) {
        MemorySegment attributes = Scratch.data().asSlice(0, ATTRIBUTES); // struct mount_attr
        attributes.set(JAVA_LONG, 0, set);
        attributes.set(JAVA_LONG, 8, clear);
        attributes.set(JAVA_LONG, 16, propagation);
        attributes.set(JAVA_LONG, 24, 0);
        return thread.call(Syscall.MOUNT_SETATTR, mount, Scratch.string(""), AT_EMPTY_PATH,
                attributes.address(), ATTRIBUTES);
    }
}
