package org.udckpt.process.model;

/** A process in a UTS namespace that the job has made. */
public record HostNamesMember(long id, int pid, long hostSpace) implements KernelObject {}
