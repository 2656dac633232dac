package org.udckpt.process.tracking;

import org.udckpt.linux.Syscall;
import org.udckpt.linux.UserfaultFd;

/**
 * A userfaultfd(2) context of another process's memory, held here: in registered memory the kernel notes by itself what
 * is written to (UFFD_FEATURE_WP_ASYNC), and nobody waits for anything. When this is closed, or this process ends, all
 * is as before. Any thread.
 */
final class WriteProtection implements AutoCloseable {
    /** With UFFD_USER_MODE_ONLY: who may not handle faults of the kernel may make it, too. */
    static final long FLAGS = Syscall.O_CLOEXEC | Syscall.O_NONBLOCK | 1;

    private static final long WRITE_PROTECT = 0xC018AA06L, MODE_WRITES = 1 << 1;
    /** UFFD_FEATURE_PAGEFAULT_FLAG_WP, _WP_UNPOPULATED and _WP_ASYNC. */
    private static final long FEATURES = 1 | 1 << 13 | 1 << 15;

    private final UserfaultFd context;

    /** Takes over the descriptor. */
    WriteProtection(int fd) {
        context = new UserfaultFd(fd);
    }

    /** Whether this kernel has it, and lets this process use it. */
    static boolean available() {
        long made = Syscall.call(UserfaultFd.SYSTEM_CALL, FLAGS);
        if (made < 0) {
            return false;
        }
        try (WriteProtection own = new WriteProtection((int) made)) {
            return own.agree() == 0;
        }
    }

    /** The handshake, once for each context: 0, or {@code -errno}. */
    long agree() {
        return context.request(UserfaultFd.API, UserfaultFd.UFFD_API, FEATURES, 0);
    }

    /**
     * From now on writes to this memory are noted.
     *
     * @return 0, or {@code -errno}: ESRCH when the process has other memory now (execve(2)) or none; EBUSY when it
     *         belongs to another context; EINVAL where that is not possible
     */
    long register(long start, long end) {
        return context.request(UserfaultFd.REGISTER, start, end - start, MODE_WRITES, 0);
    }

    /** This memory counts as written. Returns 0, or {@code -errno}. */
    long release(long start, long end) {
        return context.request(WRITE_PROTECT, start, end - start, 0);
    }

    @Override
    public void close() {
        context.close();
    }
}
