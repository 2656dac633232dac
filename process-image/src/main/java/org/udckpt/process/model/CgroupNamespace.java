package org.udckpt.process.model;

/**
 * A control group namespace that the job has made (cgroup_namespaces(7)), whose root is the group in which the job is.
 *
 * @param userOwner the user namespace that owns it; 0: the one in which the job was started
 */
public record CgroupNamespace(long id, long userOwner) implements KernelObject {}
