package org.udckpt.linux;

import static org.udckpt.linux.LinuxConstants.RENAME_NOREPLACE;

/** Another name for what has one, which never replaces what has that name: renameat2(2), or what stands for it. */
final class Renaming {
    private Renaming() {}

    /** False: {@code to} exists. */
    static boolean rename(Folder folder, String from, String to) {
        long result = tryRename(folder, from, folder, to, RENAME_NOREPLACE);
        if (result == -LinuxError.EEXIST) {
            return false;
        }
        if (isWithoutFlag(result)) {
            return renameWithoutFlag(folder, from, to);
        }
        LinuxError.check(result, "rename " + folder.below(from) + " to " + to);
        return true;
    }

    private static long tryRename(Folder folder, String from, Folder into, String to, int flags) {
        return Syscall.call(Syscall.RENAMEAT2, folder.descriptor(), Scratch.string(from), into.descriptor(),
                Scratch.second(to), flags);
    }

    private static long tryLink(Folder folder, String from, Folder into, String to) {
        return Syscall.call(Syscall.LINKAT, folder.descriptor(), Scratch.string(from), into.descriptor(),
                Scratch.second(to), 0);
    }

    /** File systems that know no RENAME_NOREPLACE (NFS). */
    private static boolean isWithoutFlag(long result) {
        return result == -LinuxError.EINVAL || result == -LinuxError.ENOSYS || result == -LinuxError.EOPNOTSUPP;
    }

    /** A second name never replaces one either, and a directory only an empty one. */
    private static boolean renameWithoutFlag(Folder folder, String from, String to) {
        Files.Stat stat = folder.stat(from);
        boolean directory = stat != null && stat.type() == Files.Stat.DIRECTORY;
        long linked = directory ? -LinuxError.EPERM : tryLink(folder, from, folder, to);
        if (linked == -LinuxError.EEXIST || linked == -LinuxError.EPERM && folder.stat(to) != null) {
            return false;
        }
        if (linked == 0) {
            folder.unlink(from);
            return true;
        }
        if (linked != -LinuxError.EPERM) {
            LinuxError.check(linked, "rename " + folder.below(from) + " to " + to);
        }
        LinuxError.check(tryRename(folder, from, folder, to, 0), "rename " + folder.below(from) + " to " + to);
        return true;
    }

    /** Into another directory of the same file system. False: {@code to} exists there. */
    static boolean move(Folder folder, String from, Folder into, String to) {
        long result = tryRename(folder, from, into, to, RENAME_NOREPLACE);
        if (isWithoutFlag(result)) { // link(2) does not replace, either
            result = tryLink(folder, from, into, to);
            if (result == 0) {
                folder.unlink(from);
            }
        }
        if (result == -LinuxError.EEXIST) {
            return false;
        }
        LinuxError.check(result, "move " + folder.below(from) + " to " + into.below(to));
        return true;
    }
}
