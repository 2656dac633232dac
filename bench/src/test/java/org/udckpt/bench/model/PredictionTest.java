package org.udckpt.bench.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class PredictionTest {
    private static final Costs COSTS = new Costs(8e-3, 23e-3 / (1L << 30), 0, 0, 1e-3, 32, 6, 0.1, 60);
    private static final double NODE_MTBF = 5 * 365.25 * 86_400;
    /**
     * 38 TB of 32,752 ranks in 11 minutes (J. Cao et al., ICPADS 2016), which is what its file system took from them.
     */
    private static final ModelWorkload PUBLISHED = new ModelWorkload(32_752, 16, 38e12 / 32_752, 1);
    private static final Storage FILE_SYSTEM = new Storage(Double.POSITIVE_INFINITY, 38e12 / (11 * 60));

    @Test
    void thePublishedPoint() {
        Prediction ours = Prediction.of(PUBLISHED, FILE_SYSTEM, null, COSTS, NODE_MTBF / PUBLISHED.nodes());
        assertEquals(660, ours.write(), 0.01);
        assertEquals(2047, PUBLISHED.nodes());
        assertTrue(ours.stop() < 0.1 && ours.cost() < 0.11 * 660, ours.toString());
        Prediction blocking = Prediction.blocking(PUBLISHED, FILE_SYSTEM, null, COSTS, NODE_MTBF / PUBLISHED.nodes());
        assertEquals(660, blocking.stop(), 0.1);
        assertTrue(blocking.efficiency() < ours.efficiency() && ours.efficiency() < 1, ours + " " + blocking);
    }

    @Test
    void nodesOrTheFileSystemAreTheLimit() {
        Storage storage = new Storage(2e9, 57.6e9);
        assertEquals(2e9, storage.rate(1));
        assertEquals(56e9, storage.rate(28));
        assertEquals(57.6e9, storage.rate(2047));
        assertEquals(10, storage.time(new ModelWorkload(16, 16, 2.5e9, 0.5)), 1e-9);
    }

    @Test
    void levelsOfTheTree() {
        assertEquals(0, COSTS.levels(1));
        assertEquals(1, COSTS.levels(33));
        assertEquals(2, COSTS.levels(34));
        assertEquals(2, COSTS.levels(1 + 32 + 1024));
        assertEquals(3, COSTS.levels(2047));
        assertEquals(4, COSTS.levels(65_536));
    }

    @Test
    void slowStorageIsWhatAFailureLeaves() {
        Storage fast = new Storage(2e9, Double.POSITIVE_INFINITY);
        Prediction safe = Prediction.of(PUBLISHED, fast, FILE_SYSTEM, COSTS, 86_400);
        Prediction shared = Prediction.of(PUBLISHED, fast, null, COSTS, 86_400);
        assertEquals(660, safe.drain(), 0.01);
        assertEquals(shared.cost(), safe.cost(), 1e-12);
        assertTrue(safe.efficiency() < shared.efficiency());
    }

    /** Spans with failures at random, played through. */
    @Test
    void theEfficiencyIsThatOfAPlayedJob() {
        double mtbf = 1000;
        double interval = 200;
        double cost = 10;
        double latency = 60;
        double restart = 30;
        double played = play(new Random(4711), mtbf, interval, cost, latency, restart);
        assertEquals(played, Prediction.efficiency(interval, cost, latency, restart, mtbf), 0.01);
    }

    /**
     * A failure sends the job back to the last checkpoint that was complete by then, of which there is one each
     * interval.
     */
    private static double play(Random random, double mtbf, double interval, double cost, double latency,
            double restart) {
        double clock = 0;
        long done = 0;
        final long spans = 200_000;
        double next = failure(random, mtbf);
        while (done < spans) {
            // After a restart from checkpoint `done`, checkpoint k more is complete after k spans and the rest of its
            // latency.
            double running = next - clock;
            long complete = (long) Math.floor((running - (latency - cost)) / (interval + cost));
            if (done + Math.max(0, complete) >= spans) {
                clock += (spans - done) * (interval + cost);
                break;
            }
            done += Math.max(0, complete);
            clock = next;
            next = clock + failure(random, mtbf);
            while (next < clock + restart) { // it fails while it restarts
                clock = next;
                next = clock + failure(random, mtbf);
            }
            clock += restart;
        }
        return spans * interval / clock;
    }

    private static double failure(Random random, double mtbf) {
        return -mtbf * Math.log(1 - random.nextDouble());
    }

    @Test
    void aJobThatFailsAllTheTimeComesNowhere() {
        assertEquals(0, Prediction.of(PUBLISHED, FILE_SYSTEM, null, COSTS, 0.5).efficiency(), 1e-12);
        assertThrows(IllegalArgumentException.class, () -> new ModelWorkload(0, 16, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new Storage(0, 1));
    }
}
