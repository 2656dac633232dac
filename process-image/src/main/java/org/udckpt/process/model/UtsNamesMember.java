package org.udckpt.process.model;

/** A process in a UTS namespace that the job has made. */
public record UtsNamesMember(long id, int pid, long hostSpace) implements KernelObject {}
