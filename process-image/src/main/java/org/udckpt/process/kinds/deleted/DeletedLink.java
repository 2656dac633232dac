package org.udckpt.process.kinds.deleted;

import org.udckpt.process.model.KernelObject;

/**
 * A handle of a symbolic link (O_PATH and O_NOFOLLOW) that has lost its name.
 *
 * @param path that it had
 * @param target what it says
 * @param modifiedNs when it was made
 */
public record DeletedLink(long id, String path, int flags, String target, int uid, int gid, long modifiedNs)
        implements
            KernelObject {}
