package org.udckpt.process.kinds.named;

import org.udckpt.process.model.KernelObject;

/**
 * An open device without a state whose node is not to be found any more, and is like no other; as root.
 *
 * @param formerPath of the node
 * @param rawDevice its number (st_rdev)
 * @param mode permissions
 */
public record RemovedDevice(long id, String formerPath, long rawDevice, int mode, int uid, int gid, int flags)
        implements
            KernelObject {}
