package org.udckpt.coordination.tree;

import java.time.Duration;

/**
 * How often nodes hear of each other, in nanoseconds.
 *
 * @param heartbeat  between two heartbeats
 * @param lease a neighbour that was silent for longer is lost
 * @param start the same for neighbours that have not been heard of yet: agents do not start at one moment
 */
public record Timing(long heartbeat, long lease, long start) {
    /** A collector's pause or a machine that swaps is no loss; a dead node is one in ten seconds. */
    public static final Timing USUAL = new Timing(Duration.ofSeconds(1).toNanos(), Duration.ofSeconds(10).toNanos(),
            Duration.ofSeconds(60).toNanos());

    /** Sums of a few of these are still numbers of nanoseconds. */
    public static final Duration LONGEST_LEASE = Duration.ofDays(1);

    public Timing {
        if (heartbeat <= 0 || lease < 3 * heartbeat || start < lease) {
            throw new IllegalArgumentException("beat " + heartbeat + " ns, lease " + lease + " ns, start " + start
                    + " ns: the lease must be at least three heartbeats, and the start time at least the lease");
        }
    }

    /**
     * With ten heartbeats in a lease.
     *
     * @param lease 1s to {@link #LONGEST_LEASE}
     */
    public static Timing ofLease(Duration lease) {
        long nanos = lease.toNanos();
        return new Timing(nanos / 10, nanos, Math.max(nanos, USUAL.start));
    }
}
