package org.udckpt.lifecycle.interval;

import java.util.Locale;
import java.util.OptionalDouble;
import org.udckpt.support.report.Durations;

/**
 * What one checkpoint costs its job.
 *
 * @param stop nanoseconds that the job stood still
 * @param write nanoseconds from then until the image was durable, while the job ran
 * @param slowdown share of its speed that the job lost meanwhile, 0 to 1
 * @param measured whether {@code slowdown} was; else it is {@link #ASSUMED}
 */
public record CheckpointCost(long stop, long write, double slowdown, boolean measured) {
    /** Slowdown assumed for a job whose speed cannot be told from its sends. */
    static final double ASSUMED = 0.1;

    public CheckpointCost {
        if (stop < 0 || write < 0 || !(slowdown >= 0 && slowdown <= 1)) {
            throw new IllegalArgumentException("stop " + stop + " ns, write " + write + " ns, slowdown " + slowdown);
        }
    }

    /** @param slowdown empty: it could not be told */
    public static CheckpointCost of(long stop, long write, OptionalDouble slowdown) {
        return new CheckpointCost(stop, write, slowdown.orElse(ASSUMED), slowdown.isPresent());
    }

    /** Nanoseconds of the job's work that it cost. */
    public double nanos() {
        return stop + slowdown * write;
    }

    /**
     * A mean that forgets: half of it is the newest. A share that was assumed does not count once one was measured.
     *
     * @param newest the checkpoint after those that this stands for
     */
    CheckpointCost then(CheckpointCost newest) {
        long stops = stop + (newest.stop - stop) / 2;
        long writes = write + (newest.write - write) / 2;
        if (measured && newest.measured) {
            return new CheckpointCost(stops, writes, (slowdown + newest.slowdown) / 2, true);
        }
        return new CheckpointCost(stops, writes, newest.measured ? newest.slowdown : slowdown,
                measured || newest.measured);
    }

    @Override
    public String toString() {
        return Durations.format((long) nanos()) + " (stop " + Durations.format(stop) + ", write "
                + Durations.format(write) + " with the job "
                + String.format(Locale.ROOT, "%.0f%% slower, %s)", slowdown * 100, measured ? "measured" : "assumed");
    }
}
