package org.udckpt.process.model;

/**
 * Offsets of a time namespace from the machine's clocks, in nanoseconds, as /proc/PID/timens_offsets has them.
 *
 * @param monotonicNs of CLOCK_MONOTONIC
 * @param boottimeNs of CLOCK_BOOTTIME
 */
public record TimeOffsets(long monotonicNs, long boottimeNs) {
    private static final long SECOND_NS = 1_000_000_000L;

    /** From the text of that file. */
    public static TimeOffsets of(String text) {
        long[] offsets = new long[2];
        for (String line : text.split("\n")) {
            String[] words = line.strip().split("\\s+");
            if (words.length == 3) {
                offsets[words[0].equals("monotonic") ? 0 : 1] =
                        Long.parseLong(words[1]) * SECOND_NS + Long.parseLong(words[2]);
            }
        }
        return new TimeOffsets(offsets[0], offsets[1]);
    }

    /** How much more these are. */
    public TimeOffsets minus(TimeOffsets other) {
        return new TimeOffsets(monotonicNs - other.monotonicNs, boottimeNs - other.boottimeNs);
    }

    /** Both together. */
    public TimeOffsets plus(TimeOffsets other) {
        return new TimeOffsets(monotonicNs + other.monotonicNs, boottimeNs + other.boottimeNs);
    }

    /** For that file. */
    public String text() {
        return "monotonic " + time(monotonicNs) + "\nboottime " + time(boottimeNs) + "\n";
    }

    private static String time(long ns) {
        return Math.floorDiv(ns, SECOND_NS) + " " + Math.floorMod(ns, SECOND_NS);
    }
}
