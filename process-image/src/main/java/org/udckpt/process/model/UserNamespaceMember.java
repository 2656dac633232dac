package org.udckpt.process.model;

/** A process in a user namespace that the job has made, and in none below that. */
public record UserNamespaceMember(long id, int pid, long userNamespace) implements KernelObject {}
