package org.udckpt.process.kinds.named;

import org.udckpt.process.model.KernelObject;

/**
 * The working directory and umask of a thread that has its own (unshare(2), CLONE_FS).
 *
 * @param pid of its process, and {@code tid} of the thread, as the job numbers them
 * @param umask bits of a mode
 */
public record ThreadDirectory(long id, int pid, int tid, String path, int umask) implements KernelObject {}
