package org.udckpt.process.kinds.epoll;

import org.udckpt.process.model.KernelObject;

/**
 * One watched descriptor. {@code fd} is its number in the process that added it, {@code object} what it names; 0: a
 * descriptor of the library, which is there again only after REBUILD.
 */
public record EpollEntry(long id, long epoll, int pid, int fd, int events, long data, long object)
        implements
            KernelObject {
    @Override
    public int number() {
        return fd;
    }
}
