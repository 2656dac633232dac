package org.udckpt.process.kinds.inotify;

import org.udckpt.process.model.KernelObject;

/**
 * A notification group of fanotify(7).
 *
 * @param flags of open(2)
 * @param groupFlags of fanotify_init(2), as eventFlags
 */
public record FanotifyGroup(long id, int flags, int groupFlags, int eventFlags) implements KernelObject {
    static final String LINK = "anon_inode:[fanotify]";
    /** FAN_CLASS_CONTENT, FAN_CLASS_PRE_CONTENT: it decides on what others do. */
    static final int DECIDES = 4 | 8;
}
