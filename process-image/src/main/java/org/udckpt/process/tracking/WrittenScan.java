package org.udckpt.process.tracking;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxConstants;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/** Asks which of a process's own pages were written to, and has the kernel note the next write to each of them. */
final class WrittenScan implements AutoCloseable {
    /** Page categories of PAGEMAP_SCAN; Documentation/admin-guide/mm/pagemap.rst, Linux 6.7. */
    private static final long WRITTEN = 2, FILE = 4, PRESENT = 8, SWAPPED = 16, ZERO_PAGE = 32;
    /** PM_SCAN_WP_MATCHING, and PM_SCAN_CHECK_WPASYNC: EPERM in memory that is not registered. */
    private static final long PROTECT = 1, CHECK = 2;
    private static final int ARGUMENT = 96, RANGE = 24, RANGES = 512;
    private static final long LARGE = 1 << 20;

    private final int fd;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment argument = arena.allocate(ARGUMENT, 8);
    private final MemorySegment ranges = arena.allocate((long) RANGE * RANGES, 8);

    /** @throws LinuxError the process is gone */
    WrittenScan(int pid) {
        this.fd = Files.open("/proc/" + pid + "/pagemap", Syscall.O_RDONLY);
    }

    /**
     * Of what may be a hole: it stays one.
     *
     * @param start in a mapping
     * @param written receives what was written to of it since the last scan
     * @return whether writes to it are noted; if not, nothing is known of it
     * @throws LinuxError nothing more is known of the process
     */
    boolean sparse(long start, long end, PageRanges written) {
        return scan(start, end, FILE | ZERO_PAGE, WRITTEN | FILE | ZERO_PAGE, PRESENT | SWAPPED, written);
    }

    /**
     * As {@link #sparse}, of what has pages everywhere: the kernel looks at each one's mark alone, which is many times
     * faster. Where there is none any more, it notes also the first write to that, and it counts as written here.
     */
    boolean dense(long start, long end, PageRanges written) {
        return scan(start, end, 0, WRITTEN, 0, written);
    }

    /**
     * Has the kernel note the next write to each page of new memory. Without an answer it is several times faster than
     * {@link #sparse}, but beside other pages the kernel keeps marks for those that are not there, too, which look like
     * swapped ones to others: so only large memory is done so, which has pages at all.
     */
    void first(long start, long end) {
        if (end - start < LARGE) {
            sparse(start, end, new PageRanges());
        } else if (call(start, end, 0, ranges.address(), 1) > 0) {
            call(start, end, PROTECT | CHECK, 0, 0);
        }
    }

    private long call(long start, long end, long flags, long vector, long most) {
        argument.fill((byte) 0);
        argument.set(JAVA_LONG, 0, ARGUMENT);
        argument.set(JAVA_LONG, 8, flags);
        argument.set(JAVA_LONG, 16, start);
        argument.set(JAVA_LONG, 24, end);
        argument.set(JAVA_LONG, 40, vector);
        argument.set(JAVA_LONG, 48, most);
        argument.set(JAVA_LONG, 56, most); // pages
        argument.set(JAVA_LONG, 80, PRESENT | SWAPPED); // category_anyof_mask
        argument.set(JAVA_LONG, 88, most == 0 ? 0 : PRESENT); // return_mask
        return LinuxError.check(Syscall.call(Syscall.IOCTL, fd, LinuxConstants.PAGEMAP_SCAN, argument.address()),
                "PAGEMAP_SCAN");
    }

    private boolean scan(long start, long end, long inverted, long mask, long anyOf, PageRanges written) {
        for (long at = start; at < end; at = argument.get(JAVA_LONG, 32)) {
            argument.fill((byte) 0);
            argument.set(JAVA_LONG, 0, ARGUMENT);
            argument.set(JAVA_LONG, 8, PROTECT | CHECK);
            argument.set(JAVA_LONG, 16, at);
            argument.set(JAVA_LONG, 24, end);
            argument.set(JAVA_LONG, 40, ranges.address());
            argument.set(JAVA_LONG, 48, RANGES);
            argument.set(JAVA_LONG, 64, inverted);
            argument.set(JAVA_LONG, 72, mask);
            argument.set(JAVA_LONG, 80, anyOf);
            argument.set(JAVA_LONG, 88, WRITTEN); // return_mask: the same for all, so that ranges join
            long n = Syscall.call(Syscall.IOCTL, fd, LinuxConstants.PAGEMAP_SCAN, argument.address());
            if (n == -LinuxError.EPERM && at == start) { // else it is no one mapping, and nothing is sure
                return false;
            }
            LinuxError.check(n, "PAGEMAP_SCAN");
            for (long i = 0; i < n; i++) {
                written.add(ranges.get(JAVA_LONG, i * RANGE), ranges.get(JAVA_LONG, i * RANGE + 8));
            }
        }
        return true;
    }

    @Override
    public void close() {
        arena.close();
        Files.close(fd);
    }
}
