package org.udckpt.bench.scale;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Thousands of small jobs in which nodes die, hang, are cut off, and messages are lost, doubled and late. */
class FaultRunTest {
    private static final int SEEDS = 2000;

    @Test
    @Timeout(600) // seconds on a machine that others load; a few of a quiet one
    void noCheckpointIsMixedAndNobodyWaitsForEver() {
        int committed = 0;
        int aborted = 0;
        int exchanged = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            FaultRun run = new FaultRun(seed);
            try {
                run.run();
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + seed + ", " + run + ": " + e.getMessage(), e);
            }
            committed += run.committed();
            aborted += run.aborted();
            exchanged += run.exchanged() ? 1 : 0;
        }
        // The faults must neither be so many that nothing is committed, nor so few that nothing fails.
        assertTrue(committed > SEEDS / 2 && aborted > SEEDS / 2 && exchanged > SEEDS / 5,
                committed + " committed, " + aborted + " aborted, " + exchanged + " exchanges");
    }
}
