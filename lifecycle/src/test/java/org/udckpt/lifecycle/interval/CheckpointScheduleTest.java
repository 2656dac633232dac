package org.udckpt.lifecycle.interval;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.udckpt.support.config.Interval;

class CheckpointScheduleTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long START = Long.MAX_VALUE - 10 * SECOND; // nanoTime may wrap in the middle of a job

    private final List<String> said = new ArrayList<>();

    private CheckpointSchedule adaptive(Duration mtbf) {
        return new CheckpointSchedule(new Interval.Adaptive(mtbf), START, said::add);
    }

    private static CheckpointCost cost(double stop, double write, double slowdown) {
        return CheckpointCost.of((long) (stop * SECOND), (long) (write * SECOND), OptionalDouble.of(slowdown));
    }

    @Test
    void theFirstOneComesSoonToLearnTheCost() {
        assertEquals(30 * SECOND, adaptive(Duration.ofDays(1)).due() - START);
        assertEquals(6 * SECOND, adaptive(Duration.ofMinutes(10)).due() - START);
    }

    /**
     * Stop 3 s and 20 s of writing at a quarter of the speed lost: C = 3 + 5 = 8 s; with M = 1 h Daly says 234.69630 s,
     * and the stop comes on top.
     */
    @Test
    void theIntervalFollowsFromTheCost() {
        CheckpointSchedule pace = adaptive(Duration.ofHours(1));
        pace.taken(START + 30 * SECOND, cost(3, 20, 0.25));
        assertEquals(30 + 3 + 234.69630, (pace.due() - START) / 1e9, 1e-4);
        assertTrue(said.getFirst().startsWith(
                "checkpoint interval 237.70 s: cost 8.00 s (stop 3.00 s, write 20.00 s with the job 25% slower, "
                        + "measured)"),
                said.toString());
        assertTrue(said.getFirst().contains("Young 240.00 s, Daly 234.70 s"), said.toString());
    }

    /** C = 0.02 s, M = 100 s: Young says 2 s. Writing takes 10 s, and two writes do not overlap. */
    @Test
    void neverShorterThanAWrite() {
        CheckpointSchedule pace = adaptive(Duration.ofSeconds(100));
        pace.taken(START, cost(0.02, 10, 0));
        assertEquals(10.02, (pace.due() - START) / 1e9, 1e-9);
        assertTrue(said.getFirst().contains("at least the write time"), said.toString());
    }

    /** Half of the mean is the newest: 8 s, then 24 s, are 16 s; sqrt(2 * 16 * 3600) = 339.41. */
    @Test
    void onlyNotableChangesAreSaid() {
        CheckpointSchedule pace = adaptive(Duration.ofHours(1));
        pace.taken(START, cost(8, 0, 0));
        pace.taken(START, cost(8.5, 0, 0));
        assertEquals(1, said.size(), said.toString());
        pace.taken(START, cost(24, 0, 0));
        assertEquals(2, said.size(), said.toString());
    }

    @Test
    void aMeasuredShareTakesThePlaceOfAnAssumedOne() {
        CheckpointCost assumed = CheckpointCost.of(0, 10 * SECOND, OptionalDouble.empty());
        assertEquals(SECOND, assumed.nanos());
        CheckpointCost measured = assumed.then(cost(0, 10, 0.5));
        assertEquals(5 * SECOND, measured.nanos());
        assertEquals(5 * SECOND, measured.then(assumed).nanos());
        assertEquals(7.5 * SECOND, measured.then(cost(0, 10, 1)).nanos());
    }

    @Test
    void failuresBackOffUntilOneSucceeds() {
        CheckpointSchedule pace = new CheckpointSchedule(new Interval.Fixed(Duration.ofSeconds(40)), START, said::add);
        assertEquals(40 * SECOND, pace.due() - START);
        long[] waits = {10, 20, 40, 80, 160, 320, 320};
        for (int i = 0; i < waits.length; i++) {
            pace.failed(START);
            assertEquals(waits[i] * SECOND, pace.due() - START, "after failure " + (i + 1));
        }
        assertEquals("trying the next checkpoint in 320.00 s (7 failures in a row)", said.getLast());
        pace.taken(START + SECOND, cost(1, 1, 0));
        assertEquals(41 * SECOND, pace.due() - START);
        pace.failed(START);
        assertEquals(10 * SECOND, pace.due() - START);
        assertTrue(said.getLast().endsWith("(1 failure)"), said.toString());
    }

    @Test
    void noIntervalIsNoPace() {
        assertThrows(IllegalArgumentException.class,
                () -> new CheckpointSchedule(new Interval.Never(), START, said::add));
    }
}
