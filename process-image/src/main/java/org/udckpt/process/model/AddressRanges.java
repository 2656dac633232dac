package org.udckpt.process.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;

/**
 * Ranges of addresses as {start, end} pairs, ascending, not overlapping: what is not so is refused
 * (IllegalArgumentException), since a walk over both would pass a range over.
 */
public final class AddressRanges {
    private AddressRanges() {}

    /** Those of {@code some}, which do not overlap, in whatever order they are. */
    public static <T> long[] of(Collection<T> some, ToLongFunction<T> start, ToLongFunction<T> end) {
        return some.stream().flatMapToLong(one -> LongStream.of(start.applyAsLong(one), end.applyAsLong(one))).sorted()
                .toArray();
    }

    /** The union of some, which may overlap, in whatever order they are; those that touch are joined. */
    public static long[] union(Collection<long[]> some) {
        List<long[]> sorted = new ArrayList<>(some);
        sorted.sort(Comparator.comparingLong(range -> range[0]));
        long[] all = new long[2 * sorted.size()];
        int count = 0;
        for (long[] range : sorted) {
            if (count > 0 && range[0] <= all[count - 1]) {
                all[count - 1] = Math.max(all[count - 1], range[1]);
            } else {
                all[count++] = range[0];
                all[count++] = range[1];
            }
        }
        return Arrays.copyOf(all, count);
    }

    /** What of {@code all} is not in {@code out}; pairs of {@code all} that touch are not joined. */
    public static long[] without(long[] all, long[] out) {
        requireAscending(all);
        requireAscending(out);
        long[] left = new long[all.length + out.length];
        int count = 0;
        int next = 0;
        for (int i = 0; i < all.length; i += 2) {
            while (next < out.length && out[next + 1] <= all[i]) {
                next += 2;
            }
            long at = all[i];
            for (int j = next; j < out.length && out[j] < all[i + 1]; j += 2) {
                if (out[j] > at) {
                    left[count++] = at;
                    left[count++] = out[j];
                }
                at = Math.max(at, out[j + 1]);
            }
            if (at < all[i + 1]) {
                left[count++] = at;
                left[count++] = all[i + 1];
            }
        }
        return Arrays.copyOf(left, count);
    }

    /** The intersection; pairs that touch are not joined. */
    public static long[] both(long[] a, long[] b) {
        requireAscending(a);
        requireAscending(b);
        long[] both = new long[a.length + b.length];
        int count = 0;
        int i = 0;
        int j = 0;
        while (i < a.length && j < b.length) {
            long start = Math.max(a[i], b[j]);
            long end = Math.min(a[i + 1], b[j + 1]);
            if (start < end) {
                both[count++] = start;
                both[count++] = end;
            }
            if (a[i + 1] < b[j + 1]) {
                i += 2;
            } else {
                j += 2;
            }
        }
        return Arrays.copyOf(both, count);
    }

    private static void requireAscending(long[] ranges) {
        for (int i = 1; i < ranges.length; i++) {
            if (ranges[i] < ranges[i - 1]) {
                throw new IllegalArgumentException("0x%x comes behind 0x%x: the ranges do not ascend"
                        .formatted(ranges[i], ranges[i - 1]));
            }
        }
    }

    public static long bytes(long[] ranges) {
        long bytes = 0;
        for (int i = 0; i < ranges.length; i += 2) {
            bytes += ranges[i + 1] - ranges[i];
        }
        return bytes;
    }
}
