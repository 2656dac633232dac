package org.udckpt.process.model;

/**
 * What a thread may do, where that is not what its job was started with. The kernel keeps it for each thread
 * (credentials(7)).
 */
public sealed interface Privileges {
    int pid();

    int tid();

    /**
     * Of a thread that has left the user, groups or capabilities of its job; only root's can (setuid(2),
     * capabilities(7)).
     *
     * @param users real, effective, saved and file system user id
     * @param groups the same of the group
     * @param supplementary group ids, at most {@value #MOST_GROUPS}
     * @param inheritable a bit for each capability, as permitted, effective, bounding and ambient
     * @param secureBits prctl(PR_GET_SECUREBITS); bit 4 is PR_SET_KEEPCAPS
     */
    record Credentials(int pid, int tid, int[] users, int[] groups, int[] supplementary, long inheritable,
            long permitted, long effective,
            long bounding, long ambient, int secureBits) implements Privileges {
        /** Fewer than the kernel's 65536: they are set from a page of memory. */
        public static final int MOST_GROUPS = 16_000;
    }

    /** A thread whose no_new_privs (prctl(2)) differs from the process's main thread. */
    record NoNewPrivileges(int pid, int tid, boolean set) implements Privileges {}
}
