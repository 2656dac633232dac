package org.udckpt.process.kinds.deleted;

import org.udckpt.process.model.KernelObject;

/**
 * A directory that was removed while it was in use. It is empty, and nothing can be made in it (rmdir(2)).
 *
 * @param path that it had
 * @param mode permission bits
 * @param modifiedNs when its last entry went
 * @param above the deleted directory in which it was; 0: that one has its name still
 */
public record DeletedDirectory(long id, String path, int mode, int uid, int gid, long modifiedNs, long above)
        implements
            KernelObject {
    @Override
    public boolean openForAWhile() {
        return true;
    }
}
