package org.udckpt.process.files;

import org.udckpt.linux.Folder;
import org.udckpt.linux.Syscall;

/** Owner, mode and time of files that are put back. */
final class Attributes {
    private static final int KEEP = -1;

    private Attributes() {}

    /** An ordinary user's files are his, whoever owned them; of root's each gets its owner. */
    static void set(int file, String path, int uid, int gid, int mode, long modifiedNs) {
        boolean root = Syscall.call(107 /* geteuid */) == 0;
        Folder.attributes(file, path, root ? uid : KEEP, root ? gid : KEEP, mode, modifiedNs);
    }

    static void set(Folder folder, int uid, int gid, int mode, long modifiedNs) {
        set(folder.descriptor(), folder.path(), uid, gid, mode, modifiedNs);
    }
}
