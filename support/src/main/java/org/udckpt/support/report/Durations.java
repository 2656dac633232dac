package org.udckpt.support.report;

import java.util.Locale;

/** Times and sizes as people read them. */
public final class Durations {
    private Durations() {}

    /** {@code 12.3 ms}, {@code 4.56 s}. */
    public static String format(long nanoseconds) {
        return nanoseconds < 1_000_000_000L
                ? String.format(Locale.ROOT, "%.1f ms", nanoseconds / 1e6)
                : String.format(Locale.ROOT, "%.2f s", nanoseconds / 1e9);
    }

    /** {@code 12.3 MiB}. */
    public static String bytes(long bytes) {
        if (bytes < 1 << 20) {
            return String.format(Locale.ROOT, "%.1f KiB", bytes / 1024.0);
        }
        return bytes < 1L << 30 ? String.format(Locale.ROOT, "%.1f MiB", bytes / 1048576.0)
                : String.format(Locale.ROOT, "%.2f GiB", bytes / 1073741824.0);
    }
}
