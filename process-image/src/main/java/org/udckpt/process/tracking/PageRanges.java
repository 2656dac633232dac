package org.udckpt.process.tracking;

import java.util.Arrays;

/** {start, end} pairs, ascending; those that touch or overlap are joined. */
final class PageRanges {
    private long[] pairs = new long[64];
    private int count;

    /** Behind all of before, or touching the last. */
    void add(long start, long end) {
        if (count > 0 && pairs[count - 1] >= start) {
            pairs[count - 1] = Math.max(pairs[count - 1], end);
            return;
        }
        if (count == pairs.length) {
            pairs = Arrays.copyOf(pairs, 2 * count);
        }
        pairs[count++] = start;
        pairs[count++] = end;
    }

    static PageRanges of(long[] pairs) {
        PageRanges all = new PageRanges();
        for (int i = 0; i < pairs.length; i += 2) {
            all.add(pairs[i], pairs[i + 1]);
        }
        return all;
    }

    /** Those of at least so many bytes. */
    PageRanges longer(long least) {
        PageRanges all = new PageRanges();
        for (int i = 0; i < count; i += 2) {
            if (pairs[i + 1] - pairs[i] >= least) {
                all.add(pairs[i], pairs[i + 1]);
            }
        }
        return all;
    }

    /** The union. */
    PageRanges with(PageRanges other) {
        PageRanges all = new PageRanges();
        int i = 0;
        int j = 0;
        while (i < count || j < other.count) {
            boolean first = j == other.count || i < count && pairs[i] <= other.pairs[j];
            all.add(first ? pairs[i] : other.pairs[j], first ? pairs[i + 1] : other.pairs[j + 1]);
            i += first ? 2 : 0;
            j += first ? 0 : 2;
        }
        return all;
    }

    long[] pairs() {
        return Arrays.copyOf(pairs, count);
    }
}
