package org.udckpt.coordination.protocol;

import java.time.Duration;

/**
 * How long each phase may take at most, in nanoseconds: a phase that takes longer has failed.
 *
 * @param device what snapshot and resume may take, each, where the memory of GPUs is moved in them
 */
public record Budgets(long suspend, long drain, long snapshot, long resume, long device, long write, long settle,
        long exchange, long start) {
    /** Generous: leases find those who died, so that only what hangs and lives is ended by these. */
    public static final Budgets USUAL = new Budgets(seconds(60), seconds(60), seconds(60), seconds(30), seconds(600),
            seconds(6 * 3600), seconds(120), seconds(120), seconds(3600));

    /** @param gpus whether the job uses any */
    long of(Op op, boolean gpus) {
        return switch (op) {
            case SUSPEND -> suspend;
            case DRAIN -> drain;
            case SNAPSHOT -> gpus ? device : snapshot;
            case RESUME -> gpus ? device : resume;
            case WRITE -> write;
            case COMMIT, ABORT, END -> settle;
            case EXCHANGE, CONNECT, OPEN -> exchange;
            case FILES, START -> start;
        };
    }

    private static long seconds(int seconds) {
        return Duration.ofSeconds(seconds).toNanos();
    }
}
