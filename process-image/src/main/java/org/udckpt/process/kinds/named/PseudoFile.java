package org.udckpt.process.kinds.named;

import org.udckpt.process.model.KernelObject;

/** A file of /proc or /sys: reopened by path. Paths hold pids as the job sees them. */
public record PseudoFile(long id, String path, int flags, long position) implements KernelObject {}
