package org.udckpt.process.capture;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxConstants;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/**
 * /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst) of a stopped process or of its snapshot: what says which
 * memory there is. One that cannot be opened or says nothing refuses the process: to take it for one without memory
 * would lose all of it.
 */
final class Pagemap implements AutoCloseable {
    private static final int PAGE = 4096;
    private static final int ENFILE = 23, EMFILE = 24;
    private static final long KILL_NS = 1_000_000;

    private final TracedProcess process;
    private final int pid;
    private final int fd;

    /**
     * @param process the captured process, which a refusal names
     * @param pid its own number, or its snapshot's
     * @throws CaptureRefused the kernel does not let it be read
     * @throws CaptureFailed it has ended, or this process lacks descriptors or memory to open it
     */
    Pagemap(TracedProcess process, int pid) {
        this.process = process;
        this.pid = pid;
        String path = "/proc/" + pid + "/pagemap";
        long opened = Files.tryOpen(path, Syscall.O_RDONLY);
        if (opened == -EMFILE || opened == -ENFILE || opened == -LinuxError.ENOMEM) {
            throw new CaptureFailed("cannot open " + path + ": " + LinuxError.name((int) -opened));
        }
        if (opened < 0) {
            throw unreadable("cannot be opened (" + LinuxError.name((int) -opened) + ")");
        }
        this.fd = (int) opened;
    }

    /**
     * Reads the entries of the pages from {@code start} on, of 8 bytes each.
     *
     * @return how many of {@code pages}, at least one
     * @throws CaptureRefused there are none
     */
    long entries(long start, long pages, MemorySegment into) {
        long n = LinuxError.check(
                Syscall.call(Syscall.PREAD64, fd, into.address(), pages * Long.BYTES, start / PAGE * Long.BYTES),
                "read /proc/", pid + "/pagemap") / Long.BYTES;
        if (n == 0) {
            throw unreadable("says nothing of the memory at 0x%x".formatted(start));
        }
        return n;
    }

    /**
     * PAGEMAP_SCAN (Linux 6.7).
     *
     * @param argument struct pm_scan_arg
     * @return what ioctl(2) returns; the negated errors ENOTTY and EINVAL where the kernel does not have it
     */
    long scan(MemorySegment argument) {
        long n = Syscall.call(Syscall.IOCTL, fd, LinuxConstants.PAGEMAP_SCAN, argument.address());
        return n == -LinuxError.ENOTTY || n == -LinuxError.EINVAL ? n
                : LinuxError.check(n, "PAGEMAP_SCAN of process ", pid);
    }

    private RuntimeException unreadable(String how) {
        LockSupport.parkNanos(KILL_NS); // a SIGKILL that was just taken is not seen yet
        if (CaptureErrors.ends(pid)) {
            return new CaptureFailed(
                    process + " ended while it was captured (its pagemap, /proc/" + pid + "/pagemap, " + how + ")");
        }
        return process.refuse("/proc/" + pid + "/pagemap " + how + ", so that its memory cannot be found: udckpt needs "
                + "a /proc that is complete (a container or a security module may hide this file), and the right to "
                + "trace the job");
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
