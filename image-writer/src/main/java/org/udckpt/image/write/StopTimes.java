package org.udckpt.image.write;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How long the application stood still, over the ranks, in nanoseconds; phases of the whole job count for each rank.
 */
public record StopTimes(long max, long median) {
    public static StopTimes of(List<PhaseTime> phases) {
        return ofStops(ofRanks(phases));
    }

    /** @param ranks each one's, at least one */
    static StopTimes ofStops(List<Long> ranks) {
        List<Long> stops = ranks.stream().sorted().toList();
        return new StopTimes(stops.getLast(), stops.get((stops.size() - 1) / 2));
    }

    /** One for each rank that has phases of its own; where none has, the job's. */
    public static List<Long> ofRanks(List<PhaseTime> phases) {
        SortedMap<Integer, Long> byRank = new TreeMap<>();
        for (PhaseTime phase : phases) {
            if (phase.phase().stops()) {
                byRank.merge(phase.rank(), phase.nanoseconds(), Long::sum);
            }
        }
        Long shared = byRank.remove(PhaseTime.JOB);
        long common = shared == null ? 0 : shared;
        return byRank.isEmpty() ? List.of(common) : byRank.values().stream().map(stop -> stop + common).toList();
    }
}
