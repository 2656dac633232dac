package org.udckpt.lifecycle;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How often in a row a job has failed without getting further, and which checkpoint it goes on from. A job gets further
 * when one of its checkpoints is of an age at which it had failed before: so a job that always fails at the same place
 * comes to an end, however many checkpoints it takes on its way there.
 */
final class FailureStreak {
    /**
     * A checkpoint.
     *
     * @param age how long the job had run when it was taken, over all its incarnations, in nanoseconds
     */
    record Point(long id, long age) {}

    private final int limit;
    private final Map<Long, Integer> failedFrom = new HashMap<>();
    private long furthest = Long.MIN_VALUE;
    private int failures;

    /** @param limit so many restarts in a row at most */
    FailureStreak(int limit) {
        this.limit = limit;
    }

    /**
     * The job failed, or could not be restarted. Of its checkpoints those are preferred from which it has failed least
     * often in this streak, and of these the newest.
     *
     * @param from id of the checkpoint that this incarnation began with; null in the first
     * @param age of the job when it failed
     * @param points its complete checkpoints
     * @return empty: it has failed too often, or there is no checkpoint
     */
    Optional<Point> failed(Long from, long age, List<Point> points) {
        if (points.stream().anyMatch(point -> point.age() > furthest)) {
            failures = 0;
            failedFrom.clear();
        }
        furthest = Math.max(furthest, age);
        failures++;
        if (from != null) {
            failedFrom.merge(from, 1, Integer::sum);
        }
        if (failures > limit) {
            return Optional.empty();
        }
        return points.stream().min(Comparator.comparing((Point point) -> failedFrom.getOrDefault(point.id(), 0))
                .thenComparing(Comparator.comparing(Point::id).reversed()));
    }

    /** In a row, the last one included. */
    int failures() {
        return failures;
    }
}
