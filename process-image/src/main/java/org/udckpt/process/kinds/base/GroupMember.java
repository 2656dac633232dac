package org.udckpt.process.kinds.base;

/**
 * A thread that is in another control group than the one in which its rank was started (cgroups(7)).
 *
 * @param tid as the job numbers the thread
 * @param hierarchy as /proc/PID/cgroup names it: controllers, or name=...; "": version 2
 * @param below its own group is below the one in which its rank was started, {@code start}; else that is "/"
 * @param path of its own group, from {@code start} on
 */
public record GroupMember(int tid, String hierarchy, boolean below, String start, String path) {}
