package org.udckpt.bench.report;

import java.util.Collection;
import java.util.Locale;
import java.util.function.DoubleFunction;

/** Numbers as reports write them. */
final class Words {
    private static final double MIB = 1 << 20;

    private Words() {}

    static String percent(double part) {
        return String.format(Locale.ROOT, "%+.2f%%", 100 * part);
    }

    static String seconds(double seconds) {
        return String.format(Locale.ROOT, "%.2f", seconds);
    }

    static String mebibytes(double bytes) {
        return String.format(Locale.ROOT, "%.1f", bytes / MIB);
    }

    static String milliseconds(double ns) {
        return String.format(Locale.ROOT, "%.1f", ns / 1e6);
    }

    /** The median with its spread, {@code 1.20 (1.10..1.40, 3)}; a dash where there are no values. */
    static String spread(Collection<Double> values, DoubleFunction<String> word) {
        if (values.isEmpty()) {
            return "-";
        }
        Sample sample = Sample.of(values);
        return "%s (%s..%s, %d)".formatted(word.apply(sample.median()), word.apply(sample.min()),
                word.apply(sample.max()), sample.count());
    }
}
