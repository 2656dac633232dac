package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.udckpt.linux.Kernel;
import org.udckpt.linux.LinuxError;

/**
 * Finds the pages of private memory that a process has made its own: present or swapped, and not a page of the mapped
 * file; guard pages by themselves.
 */
final class PageScan implements AutoCloseable {
    /** Page categories of PAGEMAP_SCAN; linux/fs.h, Documentation/admin-guide/mm/pagemap.rst. */
    private static final long FILE = 4, PRESENT = 8, SWAPPED = 16, ZERO_PAGE = 32,
            HUGE = 64;
    /** PAGE_IS_GUARD; kernels that do not have it (before 6.16) say EINVAL. */
    private static final long GUARD = 256;
    /** From 6.13 there are guard pages, which look like swapped ones to it without {@link #GUARD}. */
    private static final boolean HIDES_GUARDS = Kernel.atLeast(6, 13);
    private static final int ARGUMENT = 96, RANGE = 24;
    /**
     * No more than the kernel collects at a time (PAGEMAP_WALK_SIZE / page size). Given room for more, it goes on after
     * that many, but says afterwards that it ended where it went on (fs/proc/task_mmu.c of 6.18 keeps the first
     * walk_end), and the rest comes twice.
     */
    private static final int RANGES = 512;
    private static final int PAGE = 4096;
    private static final long ENTRY_PRESENT = 1L << 63, ENTRY_SWAPPED = 1L << 62, ENTRY_FILE = 1L << 61;
    private static final long ENTRY_GUARD = 1L << 58; // Linux 6.15

    private final Pagemap pagemap;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment argument = arena.allocate(ARGUMENT, 8);
    private final MemorySegment ranges = arena.allocate((long) RANGE * RANGES, 8);
    private boolean ioctl = true;
    private long guard = GUARD;
    private long not = FILE | ZERO_PAGE;
    private final Ranges pages = new Ranges();
    private final Ranges guards = new Ranges();
    private final Ranges huge = new Ranges();

    PageScan(Pagemap pagemap) {
        this.pagemap = pagemap;
    }

    /**
     * Adds the ranges in [start, end), which is a mapping or a part of one; touching ones are joined, guard pages not
     * over mappings.
     *
     * @param file whether pages of a file may be in it: of each page the kernel has to look up whose it is then
     */
    void add(long start, long end, boolean file) {
        guards.close();
        not = file ? FILE | ZERO_PAGE : ZERO_PAGE;
        if (ioctl && !scan(start, end)) {
            ioctl = false;
        }
        if (!ioctl) {
            walk(start, end, pages, guards);
        }
    }

    /** Adds [start, end) whether or not its pages are the process's own. */
    void addWhole(long start, long end) {
        pages.append(start, end);
    }

    /** Whether there is a page in [start, end) at all; nothing is added. */
    boolean any(long start, long end) {
        long n = ioctl ? scanOnce(start, end, 1) : 0;
        if (n < 0) {
            ioctl = false;
        }
        if (!ioctl) {
            Ranges all = new Ranges();
            walk(start, end, all, all);
            n = all.count;
        }
        return n > 0;
    }

    /** {start, end} pairs so far. */
    long[] ranges() {
        return pages.all();
    }

    /**
     * {start, end} pairs of what is no memory but must not be touched ({@link org.udckpt.process.model.GuardPages}).
     */
    long[] guards() {
        return guards.all();
    }

    /** {start, end} pairs of {@link #ranges} that are huge pages; empty where the kernel has no PAGEMAP_SCAN. */
    long[] huge() {
        return huge.all();
    }

    private boolean scan(long start, long end) {
        for (long at = start; at < end;) {
            long n = scanOnce(at, end, RANGES);
            if (n < 0) {
                return false;
            }
            for (long i = 0; i < n; i++) {
                long from = ranges.get(JAVA_LONG, i * RANGE);
                long to = ranges.get(JAVA_LONG, i * RANGE + 8);
                long categories = ranges.get(JAVA_LONG, i * RANGE + 16);
                ((categories & GUARD) == 0 ? pages : guards).append(from, to);
                if ((categories & HUGE) != 0) {
                    huge.append(from, to);
                }
            }
            at = argument.get(JAVA_LONG, 32);
        }
        return true;
    }

    /**
     * How many of at most {@code most} ranges there are in [at, end); negative when the kernel has no PAGEMAP_SCAN. Of
     * one range, its first page is enough.
     */
    private long scanOnce(long at, long end, int most) {
        argument.fill((byte) 0);
        argument.set(JAVA_LONG, 0, ARGUMENT);
        argument.set(JAVA_LONG, 16, at);
        argument.set(JAVA_LONG, 24, end);
        argument.set(JAVA_LONG, 40, ranges.address());
        argument.set(JAVA_LONG, 48, most);
        argument.set(JAVA_LONG, 56, most == 1 ? 1 : 0); // max_pages; 0: all
        argument.set(JAVA_LONG, 64, not); // category_inverted
        argument.set(JAVA_LONG, 72, not); // category_mask
        argument.set(JAVA_LONG, 80, PRESENT | SWAPPED); // category_anyof_mask
        argument.set(JAVA_LONG, 88, guard | HUGE); // return_mask: else the same for all, so that ranges join
        long n = pagemap.scan(argument);
        if (n == -LinuxError.EINVAL && guard != 0 && !HIDES_GUARDS) {
            guard = 0;
            return scanOnce(at, end, most);
        }
        return n;
    }

    private void walk(long start, long end, Ranges own, Ranges guarded) {
        long most = ranges.byteSize() / 8;
        for (long at = start; at < end;) {
            long pages = Math.min(most, (end - at) / PAGE);
            long n = pagemap.entries(at, pages, ranges);
            for (long i = 0; i < n; i++) {
                long entry = ranges.get(JAVA_LONG, i * 8);
                if ((entry & (ENTRY_PRESENT | ENTRY_SWAPPED)) != 0 && (entry & ENTRY_FILE) == 0) {
                    ((entry & ENTRY_GUARD) == 0 ? own : guarded).append(at + i * PAGE, at + (i + 1) * PAGE);
                }
            }
            at += n * PAGE;
        }
    }

    /** {start, end} pairs; touching ones are joined. */
    private static final class Ranges {
        private long[] found = new long[256];
        private int count;
        private int closed;

        /** Ends the last range: the next one is not joined to it. */
        void close() {
            closed = count;
        }

        void append(long start, long end) {
            if (count > closed && found[count - 1] == start) {
                found[count - 1] = end;
                return;
            }
            if (count == found.length) {
                found = Arrays.copyOf(found, 2 * count);
            }
            found[count++] = start;
            found[count++] = end;
        }

        long[] all() {
            return Arrays.copyOf(found, count);
        }
    }

    @Override
    public void close() {
        arena.close();
        pagemap.close();
    }
}
