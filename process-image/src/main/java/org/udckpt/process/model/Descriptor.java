package org.udckpt.process.model;

/**
 * Descriptor {@code fd} of a process names kernel object {@code object}; dup'ed and inherited ones name the same
 * object.
 */
public record Descriptor(int pid, int fd, boolean closeOnExec, long object) {}
