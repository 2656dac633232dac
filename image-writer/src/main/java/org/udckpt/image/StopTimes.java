package org.udckpt.image;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** How long the application stood still, over the ranks, in nanoseconds; phases of the whole job count for each rank. */
record StopTimes(long max, long median) {
    static StopTimes of(List<PhaseTime> phases) {
        SortedMap<Integer, Long> byRank = new TreeMap<>();
        for (PhaseTime phase : phases) {
            if (phase.phase().stops()) {
                byRank.merge(phase.rank(), phase.nanoseconds(), Long::sum);
            }
        }
        Long shared = byRank.remove(PhaseTime.JOB);
        long common = shared == null ? 0 : shared;
        long[] stops = byRank.values().stream().mapToLong(stop -> stop + common).sorted().toArray();
        return stops.length == 0 ? new StopTimes(common, common) : new StopTimes(stops[stops.length - 1], stops[(stops.length - 1) / 2]);
    }
}
