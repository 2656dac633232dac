package org.udckpt.process.kinds.thread;

import org.udckpt.process.model.KernelObject;

/**
 * A descriptor in the table of a thread that has its own (unshare(2), CLONE_FILES; an attribute says which have one).
 *
 * @param pid of its process, and {@code tid} of the thread, as the job numbers them
 * @param object what it is of
 */
public record ThreadDescriptor(long id, int pid, int tid, int fd, boolean closeOnExec, long object)
        implements
            KernelObject {
    @Override
    public int number() {
        return fd;
    }

    @Override
    public int spare() {
        return 2; // what it is of, and a duplicate where its number is in the way
    }
}
