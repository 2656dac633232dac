package org.udckpt.process.kinds.iouring;

import org.udckpt.process.model.KernelObject;

/**
 * A ring with nothing in flight.
 *
 * @param flags of open(2)
 * @param setup IORING_SETUP_* of io_uring_setup(2)
 * @param submissions how many its submission queue takes
 * @param completions how many its completion queue takes
 * @param processor of its polling thread (sq_thread_cpu)
 * @param idle ms until that thread sleeps (sq_thread_idle)
 * @param done submissions that the kernel has taken, and completions that it has posted: 32 bits that wrap around
 * @param pid of the process that has made it
 * @param tid of the thread that has made or enabled it, the only one that may use it with IORING_SETUP_SINGLE_ISSUER
 * @param event id of the eventfd that is told of completions; 0: none
 * @param eventAsync only of those that come from elsewhere
 * @param offsets where the parts of its memory are (struct io_sqring_offsets and io_cqring_offsets)
 * @param rings both queues' memory
 * @param entries memory of the submission queue's entries
 * @param buffers registered ones: address and length, 8 bytes each; zeros for none
 * @param notes where the preloaded library has noted its inode: pid and address, 8 bytes each
 */
public record IoUring(long id, int flags, int setup, int submissions, int completions, int processor, int idle,
        int done, int pid, int tid, long event, boolean eventAsync, byte[] offsets, byte[] rings, byte[] entries,
        byte[] buffers, byte[] notes) implements KernelObject {
    static final int IOPOLL = 1, SQPOLL = 1 << 1, SQ_AFF = 1 << 2, CQSIZE = 1 << 3, CLAMP = 1 << 4, R_DISABLED = 1 << 6,
            SUBMIT_ALL = 1 << 7, COOP_TASKRUN = 1 << 8, TASKRUN_FLAG = 1 << 9, SQE128 = 1 << 10, CQE32 = 1 << 11,
            SINGLE_ISSUER = 1 << 12, DEFER_TASKRUN = 1 << 13, NO_SQARRAY = 1 << 16;
    /** What a restart sets up again. */
    static final int KEPT = IOPOLL | SQPOLL | SQ_AFF | CQSIZE | CLAMP | R_DISABLED | SUBMIT_ALL | COOP_TASKRUN
            | TASKRUN_FLAG | SQE128 | CQE32 | SINGLE_ISSUER | DEFER_TASKRUN | NO_SQARRAY;
    /** The largest queues that the kernel makes. */
    static final int MOST_ENTRIES = 1 << 15, BUFFER_BYTES = 16, MOST_BUFFERS = 4000, NOTE_BYTES = 16;
    /** What memory is mapped begins at a multiple of it. */
    public static final long MAPPED_AT = 0x800_0000L;
    /** What readlink(2) says of one, and /proc/PID/maps of its memory. */
    public static final String LINK = "anon_inode:[io_uring]";

    boolean has(int flag) {
        return (setup & flag) != 0;
    }
}
