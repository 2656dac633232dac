package org.udckpt.bench.scale;

import java.util.Random;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.coordination.protocol.Request;

/**
 * How long nodes take for their own work when all goes well: around what one node takes (results/image.txt,
 * results/restart.txt), with an exponential spread, and one in a thousand five times as long.
 */
final class LocalTimes implements SimulatedRanks.Behaviour {
    private static final double MS = 1e6;
    private static final int STRAGGLERS = 1000;
    private static final int STRAGGLING = 5;

    private final Random random;

    LocalTimes(Random random) {
        this.random = random;
    }

    /** Nanoseconds until a restored node's ranks have their new queue pairs. */
    long rebuild() {
        return spread(100, 50);
    }

    @Override
    public long duration(int node, Op op) {
        return switch (op) {
            case SUSPEND -> spread(1, 1);
            case DRAIN -> spread(0.5, 0.5);
            case SNAPSHOT -> spread(31, 5);
            case RESUME -> spread(0.5, 0.5);
            case WRITE -> spread(300, 50);
            case COMMIT, ABORT, END -> spread(0.2, 0.2);
            case FILES, START -> rebuild();
            case CONNECT -> spread(5, 5);
            case OPEN -> spread(0.5, 0.5);
            case EXCHANGE -> throw new IllegalArgumentException("no work of ranks");
        };
    }

    @Override
    public String ended(int node, Request request) {
        return null;
    }

    /** Reliable connections that have come to rest: the sums agree, and must do so twice. */
    @Override
    public long[] counts(int node) {
        return new long[]{1000, 1000};
    }

    private long spread(double leastMs, double meanMoreMs) {
        double ms = leastMs - meanMoreMs * Math.log(1 - random.nextDouble());
        return (long) (MS * ms * (random.nextInt(STRAGGLERS) == 0 ? STRAGGLING : 1));
    }
}
