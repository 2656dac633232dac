package org.udckpt.process.kinds.cgroup;

import org.udckpt.process.model.KernelObject;

/**
 * A thread in a control group.
 *
 * @param group the {@link ControlGroup}
 * @param pid of its process, and {@code tid} of the thread, as the job numbers them
 */
public record ControlGroupMember(long id, long group, int pid, int tid) implements KernelObject {}
