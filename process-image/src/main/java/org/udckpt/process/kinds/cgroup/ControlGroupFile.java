package org.udckpt.process.kinds.cgroup;

import org.udckpt.process.model.KernelObject;

/**
 * A file of a control group.
 *
 * @param group the {@link ControlGroup}
 * @param value what was set by it, lines as {@link GroupSettings} has them; empty: nothing that a restart sets
 */
public record ControlGroupFile(long id, long group, String file, int mode, int uid, int gid, byte[] value)
        implements
            KernelObject {}
