package org.udckpt.lifecycle.interval;

import java.time.Duration;
import java.util.function.Consumer;
import org.udckpt.support.config.Interval;
import org.udckpt.support.report.Durations;

/**
 * When the next checkpoint is due (docs/user/checkpoints.md). Times are nanoseconds of one monotonic clock, so that a
 * wall clock that is set moves nothing. Any checkpoint counts, also one that somebody asked for.
 */
public final class CheckpointSchedule {
    /** An adaptive job's first checkpoint shows the cost: early, but when a job has begun to compute. */
    private static final long FIRST_NS = Duration.ofSeconds(30).toNanos();
    private static final int FIRST_SHARE = 100; // of the mean time between failures
    private static final long SHORTEST_RETRY_NS = Duration.ofSeconds(1).toNanos();
    private static final int MOST_DOUBLINGS = 5; // from a quarter of the interval to eight of them
    private static final double NOTABLE = 0.2;

    private final Interval interval;
    private final Consumer<String> say;
    private CheckpointCost cost;
    private long period;
    private long said;
    private long due;
    private int failures;

    /**
     * @param interval not {@link Interval.Never}
     * @param now the job begins to run
     * @param say told what is chosen, when that changes notably
     */
    public CheckpointSchedule(Interval interval, long now, Consumer<String> say) {
        this.interval = interval;
        this.say = say;
        this.period = switch (interval) {
            case Interval.Never none -> throw new IllegalArgumentException("no checkpoints are wanted");
            case Interval.Fixed fixed -> fixed.period().toNanos();
            case Interval.Adaptive adaptive -> Math.min(FIRST_NS, adaptive.mtbf().toNanos() / FIRST_SHARE);
        };
        this.due = now + period;
    }

    /** When the next checkpoint should begin; compare by difference, as of System.nanoTime(). */
    public synchronized long due() {
        return due;
    }

    /** A checkpoint that began at {@code begin} is complete. */
    public synchronized void taken(long begin, CheckpointCost measured) {
        failures = 0;
        if (interval instanceof Interval.Adaptive adaptive) {
            cost = cost == null ? measured : cost.then(measured);
            choose(adaptive.mtbf().toNanos());
        }
        due = begin + period;
    }

    private void choose(long mtbf) {
        double computing = OptimalInterval.daly(cost.nanos(), mtbf);
        // The next one cannot begin before this one is written, and what is lost at a failure is the time since the
        // last complete one.
        period = cost.stop() + Math.max(cost.write(), (long) computing);
        if (Math.abs(period - said) > NOTABLE * said) {
            said = period;
            say.accept("checkpoint interval " + Durations.format(period) + ": cost " + cost
                    + ", mean time between failures " + Durations.format(mtbf) + " (Young "
                    + Durations.format((long) OptimalInterval.young(cost.nanos(), mtbf)) + ", Daly "
                    + Durations.format((long) computing)
                    + (computing < cost.write() ? "; at least the write time)" : ")"));
        }
    }

    /** A checkpoint failed. Each failure in a row doubles the time to the next attempt: each may stop the job again. */
    public synchronized void failed(long now) {
        long wait = Math.max(SHORTEST_RETRY_NS, period / 4) << Math.min(failures, MOST_DOUBLINGS);
        failures++;
        due = now + wait;
        say.accept("trying the next checkpoint in " + Durations.format(wait) + " (" + failures + (failures == 1
                ? " failure)" : " failures in a row)"));
    }
}
