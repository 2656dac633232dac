package org.udckpt.launch.pmi;

import java.util.List;
import java.util.Map;

/**
 * Everything that the PMI server must remember across a restart.
 *
 * @param pairs what the agent's ranks have put, and {@link ProcessMapping#KEY}
 * @param ranks of the agent. If all are in a barrier, it waits for other agents' ranks
 */
public record PmiState(String name, Map<String, String> pairs, List<RankState> ranks) {
    /**
     * @param phase where the rank is in its PMI life
     * @param inBarrier it sent barrier_in and has not been let go
     */
    public record RankState(int rank, PmiPhase phase, boolean inBarrier) {}
}
