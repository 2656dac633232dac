package org.udckpt.process.kinds.pidfd;

import org.udckpt.linux.Syscall;
import org.udckpt.process.model.KernelObject;

/**
 * A descriptor of a process or thread (pidfd_open(2)).
 *
 * @param flags those of open(2) (F_GETFL), of which O_EXCL says that it is of a thread (PIDFD_THREAD)
 * @param pid of the process or thread as the job numbers it; not above 0: it has ended, and was waited for; descriptors
 *            with the same number below 0 are of the same one
 */
public record PidFd(long id, int flags, int pid) implements KernelObject {
    /** Whether it is of one thread, and not of a process. */
    boolean ofThread() {
        return (flags & Syscall.O_EXCL) != 0;
    }

    /** Whether what it is of is there no more. */
    boolean gone() {
        return pid <= 0;
    }
}
