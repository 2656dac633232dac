package org.udckpt.bench.report;

import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Modes as they are listed: without an interval first, then long intervals before short ones. */
final class ModeOrder implements Comparator<String> {
    static final ModeOrder INSTANCE = new ModeOrder();
    private static final Pattern INTERVAL = Pattern.compile("(.*?) ?every (\\d+)(ms|s)");

    @Override
    public int compare(String one, String other) {
        return Comparator.comparing(ModeOrder::family)
                .thenComparing(Comparator.comparingDouble(ModeOrder::seconds).reversed()).compare(one, other);
    }

    private static String family(String mode) {
        Matcher parts = INTERVAL.matcher(mode);
        String family = parts.matches() ? parts.group(1) : mode;
        return family.equals("preloaded") ? "" : family;
    }

    /** The interval of a mode; infinite without one. */
    static double seconds(String mode) {
        Matcher parts = INTERVAL.matcher(mode);
        return parts.matches() ? Long.parseLong(parts.group(2)) / (parts.group(3).equals("ms") ? 1000.0 : 1)
                : Double.POSITIVE_INFINITY;
    }
}
