package org.udckpt.process.kinds.base;

/**
 * A filter of system calls that one thread has (seccomp(2)).
 *
 * @param tid as the job numbers the thread
 * @param flags of SECCOMP_SET_MODE_FILTER: SECCOMP_FILTER_FLAG_LOG
 * @param program a {@link ClassicBpf}; none: strict mode
 */
public record CallFilter(int tid, int flags, byte[] program) {
    /** SECCOMP_FILTER_FLAG_LOG. */
    public static final int LOG = 2;
}
