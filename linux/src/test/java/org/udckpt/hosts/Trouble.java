package org.udckpt.hosts;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Emulated faults of the network between a host and the others, for each frame in either direction.
 *
 * @param delay      of one direction; the round trip has twice that
 * @param jitter     deviation from the delay, at most. Without netem frames stay in order all the same
 * @param loss       per cent of the frames that are lost
 * @param duplicates per cent of the frames that arrive twice
 * @param reordered  per cent of the frames that are not delayed, and so overtake others; needs a delay
 * @param rate       bandwidth in bits a second; 0: unlimited. A frame that would be queued for more than 0.3 s is lost
 */
public record Trouble(Duration delay, Duration jitter, double loss, double duplicates, double reordered, long rate) {
    private static final Duration QUEUE = Duration.ofMillis(300);
    private static final int FRAME_BITS = 8 * 1514;

    public Trouble {
        if (delay.isNegative() || jitter.isNegative() || jitter.compareTo(delay) > 0 || rate < 0
                || reordered > 0 && delay.isZero()) {
            throw new IllegalArgumentException("a delay of " + delay + " with a jitter of " + jitter + ", " + reordered
                    + " % out of order, and " + rate + " bits a second");
        }
    }

    /** Late, and nothing else. */
    public static Trouble late(Duration delay, Duration jitter) {
        return new Trouble(delay, jitter, 0, 0, 0, 0);
    }

    /**
     * A network as bad as one may be in which a job still goes on: up to 50 ms each way, 3 % of loss, 2 % of doubles, 5
     * % out of order, at times 20 Mbit/s.
     */
    public static Trouble ofChance(Random random) {
        Duration delay = Duration.ofMillis(1 + random.nextInt(50));
        return new Trouble(delay, delay.dividedBy(2), random.nextInt(300) / 100.0, random.nextInt(200) / 100.0,
                random.nextInt(500) / 100.0, random.nextInt(3) == 0 ? 20_000_000 : 0);
    }

    /**
     * The words of tc-netem(8). Its queue is counted in frames, and would lose those of any fast flow: that of a slow
     * line is as long as it takes.
     */
    List<String> netem() {
        List<String> words = new ArrayList<>(List.of("netem", "limit",
                Long.toString(rate == 0 ? 100_000 : 1 + rate * (QUEUE.plus(delay).toMillis()) / 1000 / FRAME_BITS)));
        if (!delay.isZero()) {
            words.addAll(List.of("delay", micros(delay) + "us", micros(jitter) + "us"));
        }
        words.addAll(List.of("loss", percent(loss) + "%", "duplicate", percent(duplicates) + "%"));
        if (reordered > 0) {
            words.addAll(List.of("reorder", percent(reordered) + "%"));
        }
        if (rate > 0) {
            words.addAll(List.of("rate", rate + "bit"));
        }
        return words;
    }

    /** The words of troubled_wire.c. */
    List<String> wire(long seed) {
        return List.of("delay=" + micros(delay), "jitter=" + micros(jitter), "loss=" + percent(loss),
                "duplicate=" + percent(duplicates), "reorder=" + percent(reordered),
                "rate=" + rate, "seed=" + seed);
    }

    private static long micros(Duration time) {
        return TimeUnit.NANOSECONDS.toMicros(time.toNanos());
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.3f", share);
    }
}
