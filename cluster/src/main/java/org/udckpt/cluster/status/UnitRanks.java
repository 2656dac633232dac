package org.udckpt.cluster.status;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.udckpt.address.Endpoint;

/**
 * A unit's whole answer.
 *
 * @param ranks     ascending
 * @param endpoints by rank
 */
public record UnitRanks(List<RankStatusRow> ranks, List<Endpoint> endpoints) {
    public UnitRanks {
        ranks = List.copyOf(ranks);
        endpoints = List.copyOf(endpoints);
    }

    /** The endpoints of each rank that has some. */
    public Map<Integer, List<Endpoint>> byRank() {
        return endpoints.stream().collect(Collectors.groupingBy(Endpoint::rank));
    }
}
