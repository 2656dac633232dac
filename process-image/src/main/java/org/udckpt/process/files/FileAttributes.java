package org.udckpt.process.files;

import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.Syscall;

/** Owner, mode and time of restored files. */
final class FileAttributes {
    private static final int KEEP = -1;

    private FileAttributes() {}

    /** Sets the owner only as root: an ordinary user owns all files that he restores. */
    static void set(int file, String path, int uid, int gid, int mode, long modifiedNs) {
        boolean root = Syscall.call(Syscall.GETEUID) == 0;
        Files.attributes(file, path, root ? uid : KEEP, root ? gid : KEEP, mode, modifiedNs);
    }

    static void set(Folder folder, int uid, int gid, int mode, long modifiedNs) {
        set(folder.descriptor(), folder.path(), uid, gid, mode, modifiedNs);
    }
}
