package org.udckpt.store;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.process.model.MemorySource;

/** Which ranges of a memory are stored: {@link MemorySource#extents}, to be asked many times. */
public final class Extents {
    private final long[] pairs;

    public Extents(MemorySource source) {
        this.pairs = source.extents();
    }

    /** The ranges {start, end} that lie in [start, end), ascending, cut to it. */
    public List<long[]> within(long start, long end) {
        List<long[]> found = new ArrayList<>();
        for (int i = first(start); i < pairs.length && pairs[i] < end; i += 2) {
            found.add(new long[]{Math.max(pairs[i], start), Math.min(pairs[i + 1], end)});
        }
        return found;
    }

    /** How many bytes are stored of [start, end). */
    public long bytes(long start, long end) {
        long sum = 0;
        for (int i = first(start); i < pairs.length && pairs[i] < end; i += 2) {
            sum += Math.min(pairs[i + 1], end) - Math.max(pairs[i], start);
        }
        return sum;
    }

    /** How many bytes are stored. */
    public long bytes() {
        return bytes(0, Long.MAX_VALUE);
    }

    /** Index of the first pair that ends after {@code address}. */
    private int first(long address) {
        int low = 0;
        int high = pairs.length / 2;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (pairs[2 * middle + 1] <= address) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return 2 * low;
    }
}
