package org.udckpt.process.model;

/** A process in a mount namespace that the job has made; {@code tree}: {@link JobMount#tree}. */
public record NamespaceMember(long id, int pid, int tree) implements KernelObject {}
