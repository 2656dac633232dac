package org.udckpt.image.write;

import java.util.List;
import org.udckpt.image.Range;

/** Goes once through the pages of some ranges, a piece at a time. Thread-safe. */
final class RangeCursor {
    private final List<Range> ranges;
    private int range;
    private long offset;

    /** @param ranges by address */
    RangeCursor(List<Range> ranges) {
        this.ranges = ranges;
    }

    /**
     * Takes the next pages.
     *
     * @param pieces    is filled with {address, length} pairs
     * @param addresses is filled with the pages' addresses; no more are taken than it has room for
     * @return how many numbers are in {@code pieces}; 0 at the end
     */
    synchronized int take(long[] pieces, long[] addresses) {
        int pages = 0;
        int count = 0;
        while (pages < addresses.length && range < ranges.size()) {
            Range from = ranges.get(range);
            long length = Math.min((long) (addresses.length - pages) * Range.PAGE, from.length() - offset);
            pieces[count++] = from.address() + offset;
            pieces[count++] = length;
            for (long at = 0; at < length; at += Range.PAGE) {
                addresses[pages++] = from.address() + offset + at;
            }
            offset += length;
            if (offset == from.length()) {
                range++;
                offset = 0;
            }
        }
        return count;
    }
}
