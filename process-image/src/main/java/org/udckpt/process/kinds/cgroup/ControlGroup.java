package org.udckpt.process.kinds.cgroup;

import org.udckpt.process.model.KernelObject;

/**
 * A control group in which threads of the job are, or which is above or below such a one.
 *
 * @param hierarchy as /proc/PID/cgroup names it: controllers, or name=...; "": version 2
 * @param below it is below the group in which the rank was started, or that one itself
 * @param path from that group on, which is "/"; else from the hierarchy's root
 * @param mode permissions of its directory, which is {@code uid}'s and {@code gid}'s
 * @param own it has processes of the job, or is below such a group: its settings are the job's; else it only lies on
 *     the way to one
 */
public record ControlGroup(long id, String hierarchy, boolean below, String path, int mode, int uid, int gid,
        boolean own)
        implements
            KernelObject {}
