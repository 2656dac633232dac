package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.O_NOATIME;
import static org.udckpt.linux.LinuxConstants.STATX_ATTR_APPEND;

import java.lang.foreign.MemorySegment;

/**
 * Whether a restart can open a file again that is open now. Permissions count when a file is opened (open(2)), and
 * whoever has it open keeps it, whatever becomes of them; a restart opens it anew, with the rights of whoever restarts.
 */
public final class Access {
    private static final int READ = 4, WRITE = 2, ENTER = 1; // access(2)
    private static final int FACCESSAT = 269, ACCESS_MODE = 3;
    private static final int ATTRIBUTES = 8; // struct statx
    private static final int ROOT = 0, GETEGID = 108;

    private Access() {}

    /**
     * What keeps this process, and a restart by this user, from opening a file.
     *
     * @param path of the file; links are followed
     * @param flags as open(2) has them
     * @param stat of the file
     * @return an error number, 0: nothing does
     */
    public static int refusal(String path, int flags, Files.Stat stat) {
        if ((flags & Syscall.O_PATH) != 0) {
            return 0;
        }
        boolean writes = (flags & ACCESS_MODE) != Syscall.O_RDONLY;
        int wanted = (flags & ACCESS_MODE) == Syscall.O_WRONLY ? WRITE : writes ? READ | WRITE : READ;
        int refused = denied(path, wanted, stat);
        boolean onlyAppended = refused == 0 && writes && (flags & Syscall.O_APPEND) == 0 && isAppendOnly(path);
        boolean notOwner = (flags & O_NOATIME) != 0 && User.id() != ROOT && User.id() != stat.uid();
        return refused == 0 && (onlyAppended || notOwner) ? LinuxError.EPERM : refused;
    }

    /** What keeps this process, and a restart by this user, from entering a directory: an error number, or 0. */
    public static int entryRefusal(String path, Files.Stat stat) {
        return denied(path, ENTER, stat);
    }

    /**
     * Attribute a of chattr(1), which is looked at when a file is opened; attribute i is part of what access(2) says.
     */
    private static boolean isAppendOnly(String path) {
        MemorySegment data = Scratch.data();
        return Syscall.call(Syscall.STATX, AT_FDCWD, Scratch.string(path), 0, 0, data.address()) == 0
                && (data.get(JAVA_LONG, ATTRIBUTES) & STATX_ATTR_APPEND) != 0;
    }

    private static int denied(String path, int wanted, Files.Stat stat) {
        int error = (int) -Syscall.call(FACCESSAT, AT_FDCWD, Scratch.string(path), wanted);
        // In the user namespace of a restart its owner has the rights of root over it (capabilities(7),
        // user_namespaces(7)).
        return error == LinuxError.EACCES && User.id() != ROOT && stat.uid() == User.id()
                && stat.gid() == Syscall.call(GETEGID) ? 0 : error;
    }
}
