package org.udckpt.process.model;

import java.util.Arrays;

/** Ranges of addresses as {start, end} pairs, ascending, not overlapping. */
public final class AddressRanges {
    private AddressRanges() {}

    /** What of {@code all} is not in {@code out}; pairs of {@code all} that touch are not joined. */
    public static long[] without(long[] all, long[] out) {
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

    public static long bytes(long[] ranges) {
        long bytes = 0;
        for (int i = 0; i < ranges.length; i += 2) {
            bytes += ranges[i + 1] - ranges[i];
        }
        return bytes;
    }
}
