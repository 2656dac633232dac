package org.udckpt.process.tracking;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * A userfaultfd(2) context of another process's memory, held here: in registered memory the kernel notes by itself what
 * is written to (UFFD_FEATURE_WP_ASYNC), and nobody waits for anything. When this is closed, or this process ends, all
 * is as before. Any thread.
 */
final class WriteProtection implements AutoCloseable {
    /** userfaultfd(2), with UFFD_USER_MODE_ONLY: who may not handle faults of the kernel may make it, too. */
    static final int SYSTEM_CALL = 323;
    static final long FLAGS = Syscall.O_CLOEXEC | Syscall.O_NONBLOCK | 1;

    private static final long API = 0xC018AA3FL, REGISTER = 0xC020AA00L, WRITE_PROTECT = 0xC018AA06L;
    private static final long UFFD_API = 0xAA, MODE_WRITES = 1 << 1;
    /** UFFD_FEATURE_PAGEFAULT_FLAG_WP, _WP_UNPOPULATED and _WP_ASYNC. */
    private static final long FEATURES = 1 | 1 << 13 | 1 << 15;

    private final int fd;

    /** Takes over the descriptor. */
    WriteProtection(int fd) {
        this.fd = fd;
    }

    /** Whether this kernel has it, and lets this process use it. */
    static boolean available() {
        long made = Syscall.call(SYSTEM_CALL, FLAGS);
        if (made < 0) {
            return false;
        }
        try (WriteProtection own = new WriteProtection((int) made)) {
            return own.agree() == 0;
        }
    }

    /** The handshake, once for each context: 0, or {@code -errno}. */
    long agree() {
        return request(API, UFFD_API, FEATURES, 0);
    }

    /**
     * From now on writes to this memory are noted.
     *
     * @return 0, or {@code -errno}: ESRCH when the process has other memory now (execve(2)) or none; EBUSY when it
     *         belongs to another context; EINVAL where that is not possible
     */
    long register(long start, long end) {
        return request(REGISTER, start, end - start, MODE_WRITES, 0);
    }

    /** This memory counts as written. Returns 0, or {@code -errno}. */
    long release(long start, long end) {
        return request(WRITE_PROTECT, start, end - start, 0);
    }

    private long request(long number, long... members) {
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

    /** The error that a request was refused. */
    static LinuxError refused(String what, long result) {
        return new LinuxError(what, (int) -result);
    }
}
