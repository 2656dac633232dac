package org.udckpt.process.model;

/** A process in a UTS namespace that the job has made. */
public record UtsNamespaceMember(long id, int pid, long utsNamespace) implements KernelObject {}
