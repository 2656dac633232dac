package org.udckpt.process.huge;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.PAGEMAP_SCAN;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;

/** Finds memory of a process that could be huge pages and is small ones: what khugepaged would find in time. */
final class SplitPages {
    static final long HUGE = HugePages.BYTES;
    /** Page categories of PAGEMAP_SCAN; linux/fs.h, Linux 6.7. */
    private static final long FILE = 4, PRESENT = 8, ZERO_PAGE = 32, IS_HUGE = 64;
    private static final int ARGUMENT = 96, RANGE = 24;
    private static final int RANGES = 512; // as many as the kernel collects at a time

    /**
     * Bits of an entry of /proc/PID/pagemap: mapped by this process alone (Documentation/admin-guide/mm/pagemap.rst).
     */
    private static final long ENTRY_EXCLUSIVE = 1L << 56, ENTRY_PRESENT = 1L << 63;
    private static final int PAGE = 4096;

    private SplitPages() {}

    /**
     * Addresses of {@link #HUGE} bytes, aligned, all of whose pages are there, private, shared with no other process by
     * a fork (joining would copy them), and not huge. Empty without PAGEMAP_SCAN.
     *
     * @throws LinuxError when the process is gone
     */
    static List<Long> of(int pid) {
        List<Long> blocks = new ArrayList<>();
        int fd = Files.open("/proc/" + pid + "/pagemap", Syscall.O_RDONLY);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment argument = arena.allocate(ARGUMENT, 8);
            MemorySegment ranges = arena.allocate((long) RANGE * RANGES, 8);
            for (long[] mapping : eligible(Proc.text("/proc/" + pid + "/smaps"))) {
                scan(fd, mapping[0], mapping[1], argument, ranges, blocks);
            }
            blocks.removeIf(block -> !exclusive(fd, block, ranges));
        } finally {
            Files.close(fd);
        }
        return blocks;
    }

    /** {start, end} of the mappings in which the kernel may make huge pages now (THPeligible of proc_pid_smaps(5)). */
    static List<long[]> eligible(String smaps) {
        List<long[]> found = new ArrayList<>();
        long[] mapping = null;
        for (String line : smaps.split("\n")) {
            int dash = line.indexOf('-');
            if (dash > 0 && line.indexOf(' ') > dash && Character.digit(line.charAt(0), 16) >= 0
                    && !line.substring(0, dash).contains(":")) {
                mapping = new long[]{Long.parseUnsignedLong(line, 0, dash, 16),
                        Long.parseUnsignedLong(line, dash + 1, line.indexOf(' '), 16)};
            } else if (line.startsWith("THPeligible:") && line.endsWith("1") && mapping != null) {
                found.add(mapping);
            }
        }
        return found;
    }

    private static void scan(int fd, long start, long end, MemorySegment argument, MemorySegment ranges,
            List<Long> blocks) {
        long joinedStart = start;
        long joinedEnd = start;
        for (long at = start; at < end; at = argument.get(JAVA_LONG, 32)) {
            long n = scanOnce(fd, at, end, argument, ranges);
            for (long i = 0; i < n; i++) {
                long from = ranges.get(JAVA_LONG, i * RANGE);
                if (from != joinedEnd) {
                    addBlocks(joinedStart, joinedEnd, blocks);
                    joinedStart = from;
                }
                joinedEnd = ranges.get(JAVA_LONG, i * RANGE + 8);
            }
            if (n < 0) {
                return;
            }
        }
        addBlocks(joinedStart, joinedEnd, blocks);
    }

    private static long scanOnce(int fd, long at, long end, MemorySegment argument, MemorySegment ranges) {
        argument.fill((byte) 0);
        argument.set(JAVA_LONG, 0, ARGUMENT);
        argument.set(JAVA_LONG, 16, at);
        argument.set(JAVA_LONG, 24, end);
        argument.set(JAVA_LONG, 40, ranges.address());
        argument.set(JAVA_LONG, 48, RANGES);
        argument.set(JAVA_LONG, 64, FILE | ZERO_PAGE | IS_HUGE); // category_inverted
        argument.set(JAVA_LONG, 72, FILE | ZERO_PAGE | IS_HUGE | PRESENT); // category_mask
        argument.set(JAVA_LONG, 88, PRESENT); // return_mask: the same for all, so that ranges join
        long n = Syscall.call(Syscall.IOCTL, fd, PAGEMAP_SCAN, argument.address());
        return n == -LinuxError.ENOTTY || n == -LinuxError.EINVAL ? -1 : LinuxError.check(n, "PAGEMAP_SCAN");
    }

    private static boolean exclusive(int fd, long block, MemorySegment buffer) {
        long pages = HUGE / PAGE;
        long n = LinuxError.check(
                Syscall.call(Syscall.PREAD64, fd, buffer.address(), pages * Long.BYTES, block / PAGE * Long.BYTES),
                "pagemap");
        for (long i = 0; i < n / Long.BYTES; i++) {
            long entry = buffer.getAtIndex(JAVA_LONG, i);
            if ((entry & ENTRY_PRESENT) != 0 && (entry & ENTRY_EXCLUSIVE) == 0) {
                return false;
            }
        }
        return true;
    }

    private static void addBlocks(long start, long end, List<Long> blocks) {
        for (long block = (start + HUGE - 1) & -HUGE; block + HUGE <= end; block += HUGE) {
            blocks.add(block);
        }
    }
}
