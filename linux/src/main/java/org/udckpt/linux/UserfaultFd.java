package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** A userfaultfd(2) context of a process's memory, held by a descriptor of this process. Any thread. */
public final class UserfaultFd implements AutoCloseable {
    /** userfaultfd(2). */
    public static final int SYSTEM_CALL = 323;
    /** ioctl_userfaultfd(2): the handshake, and the value that it begins with. */
    public static final long API = 0xC018AA3FL, UFFD_API = 0xAA;
    /** To have memory watched: start, length, what for, and room for an answer. */
    public static final long REGISTER = 0xC020AA00L;

    private final int fd;

    /** Takes over the descriptor. */
    public UserfaultFd(int fd) {
        this.fd = fd;
    }

    /** The descriptor. */
    public int fd() {
        return fd;
    }

    /**
     * An ioctl(2) with a structure of these members; what it answers is in {@link Scratch#data} then.
     *
     * @return 0, or {@code -errno}
     */
    public long request(long number, long... members) {
        MemorySegment data = Scratch.data();
        for (int i = 0; i < members.length; i++) {
            data.set(JAVA_LONG, 8L * i, members[i]);
        }
        return Syscall.call(Syscall.IOCTL, fd, number, data.address());
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
