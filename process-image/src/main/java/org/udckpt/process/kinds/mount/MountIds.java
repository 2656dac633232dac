package org.udckpt.process.kinds.mount;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.AT_NO_AUTOMOUNT;
import static org.udckpt.linux.LinuxConstants.STATX_MNT_ID;

import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** Numbers of mounts (statx(2), STATX_MNT_ID). */
final class MountIds {
    private static final int AT = 0x90; // struct statx, stx_mnt_id
    private static final int DO_NOT_ASK_A_SERVER = 0x4000; // AT_STATX_DONT_SYNC: one that is gone would be waited for

    private static final int ATTRIBUTES = 8, MOUNT_ROOT = 0x2000; // stx_attributes, STATX_ATTR_MOUNT_ROOT

    private MountIds() {}

    /** Whether a path leads to what is mounted there; false: that is no more mounted, or gone. */
    static boolean isRoot(String path) {
        return of(path) >= 0 && (Scratch.data().get(JAVA_LONG, ATTRIBUTES) & MOUNT_ROOT) != 0;
    }

    /** The mount that a path leads to, as mountinfo numbers it; -1: nothing is there. */
    static int of(String path) {
        long result = Syscall.call(Syscall.STATX, AT_FDCWD, Scratch.string(path),
                AT_NO_AUTOMOUNT | DO_NOT_ASK_A_SERVER, STATX_MNT_ID,
                Scratch.data().address());
        return result < 0 ? -1 : (int) Scratch.data().get(JAVA_LONG, AT);
    }
}
