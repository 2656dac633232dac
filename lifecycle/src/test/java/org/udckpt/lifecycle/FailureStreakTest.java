package org.udckpt.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.udckpt.lifecycle.FailureStreak.Point;

class FailureStreakTest {
    private static final Point FIRST = new Point(1, 10);
    private static final Point SECOND = new Point(2, 20);

    @Test
    void withoutACheckpointThereIsNothingToRestart() {
        assertEquals(Optional.empty(), new FailureStreak(5).failed(null, 30, List.of()));
    }

    @Test
    void theNewestComesFirstAndThenTheOneBefore() {
        FailureStreak streak = new FailureStreak(5);
        List<Point> both = List.of(FIRST, SECOND);
        assertEquals(Optional.of(SECOND), streak.failed(null, 30, both));
        assertEquals(Optional.of(FIRST), streak.failed(2L, 30, both));
        assertEquals(Optional.of(SECOND), streak.failed(1L, 30, both), "each has failed once");
    }

    @Test
    void theOnlyOneIsTakenAgain() {
        FailureStreak streak = new FailureStreak(3);
        assertEquals(Optional.of(FIRST), streak.failed(null, 30, List.of(FIRST)));
        assertEquals(Optional.of(FIRST), streak.failed(1L, 15, List.of(FIRST)));
        assertEquals(Optional.of(FIRST), streak.failed(1L, 25, List.of(FIRST)));
        assertEquals(Optional.empty(), streak.failed(1L, 20, List.of(FIRST)));
        assertEquals(4, streak.failures());
    }

    @Test
    void whoGetsFurtherMayFailForEver() {
        FailureStreak streak = new FailureStreak(1);
        Long from = null;
        List<Point> points = new ArrayList<>();
        for (int run = 0; run < 100; run++) {
            points.add(new Point(run, run * 10L));
            Optional<Point> next = streak.failed(from, run * 10L + 5, points);
            assertEquals(Optional.of(points.getLast()), next);
            from = next.get().id();
        }
    }

    /** Each incarnation takes checkpoints before it dies where the others died. */
    @Test
    void checkpointsOnTheWayToTheSamePlaceAreNoProgress() {
        FailureStreak streak = new FailureStreak(5);
        List<Point> points = new ArrayList<>(List.of(FIRST, SECOND));
        Optional<Point> from = streak.failed(null, 25, points);
        int restarts = 0;
        while (from.isPresent()) {
            restarts++;
            points.add(new Point(points.size() + 1, Math.min(24, from.get().age() + 4)));
            from = streak.failed(from.get().id(), 25, points);
        }
        assertEquals(5, restarts);
    }

    /** Ages are measured, so they vary: it ends all the same. */
    @Test
    void aLoopEndsThoughItsTimesVary() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        FailureStreak streak = new FailureStreak(5);
        List<Point> points = new ArrayList<>(List.of(FIRST));
        Optional<Point> from = streak.failed(null, 1000, points);
        int restarts = 0;
        while (from.isPresent() && restarts < 10_000) {
            restarts++;
            long death = 1000 + random.nextInt(100);
            points.add(new Point(points.size() + 1, death - 1));
            from = streak.failed(from.get().id(), death, points);
        }
        assertTrue(restarts < 10_000, "seed " + seed);
    }
}
