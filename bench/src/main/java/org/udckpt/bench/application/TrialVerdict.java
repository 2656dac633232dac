package org.udckpt.bench.application;

import java.util.List;

/**
 * How one way of a cell ended.
 *
 * @param words how its answer was judged, or what went wrong
 * @param seconds from the start of the first incarnation to the end of the last
 * @param checkpoints in the order in which they were taken
 */
record TrialVerdict(boolean passed, String words, double seconds, List<Taken> checkpoints) {

    /**
     * A checkpoint, as {@code udckpt inspect} says.
     *
     * @param stopMs how long the rank that stood still the longest did
     * @param bytes of memory that the image holds
     * @param processes in it
     */
    record Taken(double stopMs, long bytes, int processes) {}
}
