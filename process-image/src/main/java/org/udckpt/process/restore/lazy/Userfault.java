package org.udckpt.process.restore.lazy;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.UserfaultFd;

/**
 * A userfaultfd(2) context of another process's memory, held here by a descriptor of this process: pages that are
 * missing in registered memory are put there from this process's own (ioctl_userfaultfd(2)). Any thread.
 */
public final class Userfault implements AutoCloseable {
    /** The ioctl of /dev/userfaultfd (Linux 6.1) that does as userfaultfd(2) for who may open it. */
    public static final long NEW = 0xAA00;
    /**
     * Without O_NONBLOCK poll(2) says POLLERR. No UFFD_USER_MODE_ONLY: read(2) into missing memory has to wait as well.
     */
    public static final long FLAGS = Syscall.O_CLOEXEC | Syscall.O_NONBLOCK;

    private static final long COPY = 0xC028AA03L, ZEROPAGE = 0xC020AA04L, WAKE = 0x8010AA02L, MODE_MISSING = 1;
    /**
     * UFFD_FEATURE_EVENT_FORK, _REMAP, _REMOVE, _UNMAP: what the job does to its memory meanwhile. The first needs
     * CAP_SYS_PTRACE.
     */
    private static final long EVENTS = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 6;

    private final UserfaultFd context;

    /** Takes over the descriptor. */
    public Userfault(int fd) {
        context = new UserfaultFd(fd);
    }

    int fd() {
        return context.fd();
    }

    /**
     * The handshake, once for each context: 0, or {@code -errno}: EPERM without CAP_SYS_PTRACE, EINVAL where the kernel
     * lacks an event.
     */
    public long agree() {
        return context.request(UserfaultFd.API, UserfaultFd.UFFD_API, EVENTS, 0);
    }

    /** From now on nobody finds zeros in what is missing there, but waits. Private, anonymous memory. */
    void register(long start, long end) {
        LinuxError.check(context.request(UserfaultFd.REGISTER, start, end - start, MODE_MISSING, 0),
                "register memory at 0x" + Long.toHexString(start) + " with userfaultfd");
    }

    /**
     * Fills missing pages and wakes who waits for them; the bytes that are in place, fewer if something came between,
     * or {@code -errno}.
     */
    long copy(long to, long from, long bytes) {
        return transfer(COPY, 32, to, from, bytes, 0, 0);
    }

    /** The same with zeros, which take no memory. */
    long zero(long start, long bytes) {
        return transfer(ZEROPAGE, 24, start, bytes, 0, 0);
    }

    /** Lets those go on who wait for pages that are there. */
    void wake(long start, long bytes) {
        context.request(WAKE, start, bytes);
    }

    /**
     * The member at {@code done} has what was reached, or {@code -errno}; the call itself says EAGAIN for a part
     * (ioctl_userfaultfd(2)).
     */
    private long transfer(long number, int done, long... members) {
        long result = context.request(number, members);
        long reached = Scratch.data().get(JAVA_LONG, done);
        return result == 0 || reached > 0 ? reached : result;
    }

    @Override
    public void close() {
        context.close();
    }
}
