package org.udckpt.job.link;

import java.time.Duration;
import java.util.random.RandomGenerator;

/** Growing pauses between attempts, spread by a quarter either way so that nodes which lost a peer together do not return together. */
final class Pauses {
    private final long first;
    private final long longest;
    private final RandomGenerator random;
    private long next;

    Pauses(Duration first, Duration longest, RandomGenerator random) {
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
