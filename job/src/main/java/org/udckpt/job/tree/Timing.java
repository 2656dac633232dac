package org.udckpt.job.tree;

import java.time.Duration;

/**
 * How often nodes hear of each other, in nanoseconds.
 *
 * @param beat  between two signs of life
 * @param lease a neighbour that was silent for longer is lost
 * @param start the same for neighbours that have not been heard of yet: agents do not start at one moment
 */
public record Timing(long beat, long lease, long start) {
    /** A collector's pause or a machine that swaps is no loss; a dead node is one in ten seconds. */
    public static final Timing USUAL = new Timing(Duration.ofSeconds(1).toNanos(), Duration.ofSeconds(10).toNanos(), Duration.ofSeconds(60).toNanos());

    public Timing {
        if (beat <= 0 || lease < 3 * beat || start < lease) {
            throw new IllegalArgumentException("beat " + beat + " ns, lease " + lease + " ns, start " + start + " ns: a lease is of three beats and more, and starting takes no less");
        }
    }
}
