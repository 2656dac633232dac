package org.udckpt.process.kinds.inotify;

import org.udckpt.process.model.KernelObject;

/**
 * What a group of fanotify(7) is told of.
 *
 * @param object id of the {@link FanotifyGroup}
 * @param path of the file, or of a mount of what is marked
 * @param marked 0: the file; FAN_MARK_MOUNT, FAN_MARK_FILESYSTEM
 * @param markFlags as fdinfo tells them (proc_pid_fdinfo(5)), as the masks
 */
public record FanotifyMark(long id, long object, String path, int marked, int markFlags, int watchedMask,
        int ignoredMask) implements KernelObject {
    static final int MOUNT = 0x10, FILESYSTEM = 0x100;
    /** FAN_MARK_IGNORED_SURV_MODIFY, FAN_MARK_EVICTABLE, FAN_MARK_IGNORE. */
    static final int SURVIVES = 0x40, EVICTABLE = 0x200, IGNORE = 0x400;
}
