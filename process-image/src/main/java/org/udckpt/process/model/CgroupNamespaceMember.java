package org.udckpt.process.model;

/** Which process is in which {@link CgroupNamespace}; those of which no row tells are where the job was started. */
public record CgroupNamespaceMember(long id, int pid, long cgroupNamespace) implements KernelObject {}
