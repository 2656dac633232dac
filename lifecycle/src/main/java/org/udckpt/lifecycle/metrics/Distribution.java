package org.udckpt.lifecycle.metrics;

import java.util.Arrays;

/** Times by size, in the classes of a histogram of OpenMetrics. Not thread-safe. */
final class Distribution {
    private static final double NANOS = 1e9;

    private final double[] bounds;
    private final long[] counts;
    private double sum;

    /**
     * @param bounds seconds that the times of each class have at most, ascending, the last one infinite
     * @param counts of each class alone
     * @param sum of all times, in seconds
     */
    record Sums(double[] bounds, long[] counts, double sum) {
        long count() {
            return Arrays.stream(counts).sum();
        }
    }

    /** @param bounds finite ones, ascending, in seconds; none: all are of one class */
    Distribution(double... bounds) {
        this.bounds = Arrays.copyOf(bounds, bounds.length + 1);
        this.bounds[bounds.length] = Double.POSITIVE_INFINITY;
        this.counts = new long[bounds.length + 1];
    }

    void add(long nanoseconds) {
        double seconds = nanoseconds / NANOS;
        int found = Arrays.binarySearch(bounds, seconds);
        counts[found >= 0 ? found : -found - 1]++;
        sum += seconds;
    }

    Sums sums() {
        return new Sums(bounds, counts.clone(), sum);
    }
}
