package org.udckpt.process.model;

/** The user namespace that owns a mount namespace ({@link JobMount#tree}), where that is one of the job's own. */
public record NamespaceOwner(long id, int tree, long userOwner) implements KernelObject {}
