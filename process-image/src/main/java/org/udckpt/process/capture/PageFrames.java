package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * In which frames the pages of a process are: /proc/PID/pagemap, whose frame numbers only CAP_SYS_ADMIN sees
 * (Documentation/admin-guide/mm/pagemap.rst). The kernel moves pages at any time (compaction), so that equal numbers
 * are no proof of equal pages; different ones, of pages of processes that stand still, are frames of their own.
 */
final class PageFrames implements AutoCloseable {
    private static final int PAGE = 4096;
    private static final long PRESENT = 1L << 63, SWAPPED = 1L << 62, FILES = 1L << 61, FRAME = (1L << 55) - 1;

    private final Pagemap pagemap;

    PageFrames(Pagemap pagemap) {
        this.pagemap = pagemap;
    }

    /** Fills {@code frames} with one number a page from {@code start} on; 0: not to be known, or not in memory. */
    void read(long start, int pages, long[] frames, MemorySegment buffer) {
        fill(start, pages, buffer);
        for (int i = 0; i < pages; i++) {
            long entry = buffer.getAtIndex(JAVA_LONG, i);
            frames[i] = (entry & PRESENT) == 0 ? 0 : entry & FRAME;
        }
    }

    /**
     * Fills {@code own}: whether the page was written to by this process in a private mapping, and is not the file's
     * any more (bits 61 to 63: the file's, swapped out, present).
     */
    void readOwn(long start, int pages, boolean[] own, MemorySegment buffer) {
        fill(start, pages, buffer);
        for (int i = 0; i < pages; i++) {
            long entry = buffer.getAtIndex(JAVA_LONG, i);
            own[i] = (entry & (PRESENT | SWAPPED)) != 0 && (entry & FILES) == 0;
        }
    }

    private void fill(long start, int pages, MemorySegment buffer) {
        for (long done = 0; done < pages;) {
            done += pagemap.entries(start + done * PAGE, pages - done, buffer.asSlice(done * Long.BYTES));
        }
    }

    @Override
    public void close() {
        pagemap.close();
    }
}
