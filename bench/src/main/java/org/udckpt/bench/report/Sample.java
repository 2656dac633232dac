package org.udckpt.bench.report;

import java.util.Arrays;
import java.util.Collection;

/** Numbers of the same thing: their middle and their spread. At least one. */
record Sample(double[] sorted) {
    static Sample of(Collection<Double> values) {
        if (values.isEmpty()) {
            throw new IllegalArgumentException("no numbers have no median");
        }
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        return new Sample(sorted);
    }

    int count() {
        return sorted.length;
    }

    /** The median; of an even number of values the mean of the two in the middle. */
    double median() {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    double min() {
        return sorted[0];
    }

    double max() {
        return sorted[sorted.length - 1];
    }
}
