package org.udckpt.lifecycle.interval;

import java.util.OptionalDouble;
import java.util.function.LongSupplier;

/**
 * Measures how much slower a job runs while its image is written: its sends a second beside a write, against those
 * since the write before. Sends follow a job's iterations, and counting them costs it nothing. Too few of them, or too
 * short a time, say nothing. For one checkpoint at a time.
 */
public final class SlowdownMeter {
    /** Below these the two rates differ by chance: 1000 random events spread by 3%. */
    private static final long FEWEST = 1000;
    private static final long SHORTEST_NS = 50_000_000;

    private final LongSupplier sends;
    private final LongSupplier clock;
    private Sample free;
    private Sample stopped;
    private Sample resumed;

    private record Sample(long at, long sends) {
        /** Sends a nanosecond; NaN when nothing can be told. */
        double rateUntil(Sample later) {
            long count = later.sends - sends;
            long time = later.at - at;
            return count < FEWEST || time < SHORTEST_NS ? Double.NaN : (double) count / time;
        }
    }

    /**
     * @param sends of all ranks so far
     * @param clock nanoseconds, of any origin, never backwards
     */
    public SlowdownMeter(LongSupplier sends, LongSupplier clock) {
        this.sends = sends;
        this.clock = clock;
        this.free = sample();
    }

    private Sample sample() {
        return new Sample(clock.getAsLong(), sends.getAsLong());
    }

    /** The job is about to be stopped. */
    public void stops() {
        stopped = sample();
    }

    /** The job runs again, its image is being written. */
    public void resumes() {
        resumed = sample();
    }

    /** The image is written. @return the share of its speed that the job lost, 0 to 1; empty: cannot be told */
    public OptionalDouble written() {
        Sample now = sample();
        double share = 1 - resumed.rateUntil(now) / free.rateUntil(stopped);
        return Double.isNaN(share) ? OptionalDouble.empty() : OptionalDouble.of(Math.clamp(share, 0, 1));
    }

    /** No checkpoint is under way any more, whatever became of the last. */
    public void runsFreely() {
        free = sample();
    }
}
