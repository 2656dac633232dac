package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/**
 * In which frames the pages of a process are: /proc/PID/pagemap, whose frame numbers only CAP_SYS_ADMIN sees
 * (Documentation/admin-guide/mm/pagemap.rst). The kernel moves pages at any time (compaction), so that equal numbers
 * are no proof of equal pages; different ones, of pages of processes that stand still, are frames of their own.
 */
final class PageFrames implements AutoCloseable {
    private static final int PAGE = 4096;
    private static final long PRESENT = 1L << 63, SWAPPED = 1L << 62, FILES = 1L << 61, FRAME = (1L << 55) - 1;

    private final int pid;
    private final int fd;

    PageFrames(int pid) {
        this.pid = pid;
        this.fd = Files.open("/proc/" + pid + "/pagemap", Syscall.O_RDONLY);
    }

    /** Fills {@code frames} with one number a page from {@code start} on; 0: not to be known, or not in memory. */
    void read(long start, int pages, long[] frames, MemorySegment buffer) {
        long bytes = (long) pages * Long.BYTES;
        long n = LinuxError.check(Syscall.call(Syscall.PREAD64, fd, buffer.address(), bytes, start / PAGE * Long.BYTES),
                "pagemap of process " + pid);
        for (int i = 0; i < pages; i++) {
            long entry = (i + 1) * (long) Long.BYTES <= n ? buffer.getAtIndex(JAVA_LONG, i) : 0;
            frames[i] = (entry & PRESENT) == 0 ? 0 : entry & FRAME;
        }
    }

    /**
     * Fills {@code own}: whether the page was written to by this process in a private mapping, and is not the file's
     * any more (bits 61 to 63: the file's, swapped out, present).
     */
    void readOwn(long start, int pages, boolean[] own, MemorySegment buffer) {
        long n = LinuxError.check(Syscall.call(Syscall.PREAD64, fd, buffer.address(), (long) pages * Long.BYTES,
                start / PAGE * Long.BYTES), "pagemap of process " + pid);
        for (int i = 0; i < pages; i++) {
            long entry = (i + 1) * (long) Long.BYTES <= n ? buffer.getAtIndex(JAVA_LONG, i) : 0;
            own[i] = (entry & (PRESENT | SWAPPED)) != 0 && (entry & FILES) == 0;
        }
    }

    @Override
    public void close() {
        Files.close(fd);
    }
}
