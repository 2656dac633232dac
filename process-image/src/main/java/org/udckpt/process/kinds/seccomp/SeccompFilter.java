package org.udckpt.process.kinds.seccomp;

import org.udckpt.process.model.KernelObject;

/**
 * A filter of system calls of one thread, which has them in the order of its rows (seccomp(2)).
 *
 * @param pid of the process, and {@code tid} of the thread, as the job numbers them
 * @param flags of SECCOMP_SET_MODE_FILTER
 * @param program instructions of 8 bytes each (struct sock_filter); none: strict mode
 */
public record SeccompFilter(long id, int pid, int tid, int flags, byte[] program) implements KernelObject {}
