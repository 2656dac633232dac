package org.udckpt.transport;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Growing backoffs between attempts, spread by a quarter either way so that nodes which lost a peer together do not
 * return together.
 */
final class Backoff {
    private final long first;
    private final long longest;
    private final RandomGenerator random;
    private long next;

    Backoff(Duration first, Duration longest, RandomGenerator random) {
        this.first = first.toNanos();
        this.longest = longest.toNanos();
        this.random = random;
        reset();
    }

    Duration next() {
        long pause = next;
        next = Math.min(longest, next * 2);
        return Duration.ofNanos(random.nextLong(pause - pause / 4, pause + pause / 4 + 1));
    }

    void reset() {
        next = first;
    }
}
