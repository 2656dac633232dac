package org.udckpt.process.model;

/** A process in a network namespace that the job has made. */
public record NetworkNamespaceMember(long id, int pid, long networkNamespace) implements KernelObject {}
