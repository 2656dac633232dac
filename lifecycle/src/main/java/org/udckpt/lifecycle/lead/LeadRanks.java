package org.udckpt.lifecycle.lead;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.udckpt.address.Endpoint;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.Unit;
import org.udckpt.cluster.status.RankJson;
import org.udckpt.cluster.status.RankStatus;
import org.udckpt.cluster.status.RankStatusRow;
import org.udckpt.cluster.status.UnitRanks;

/**
 * The ranks in the lead's {@code status --json}: as their units tell them, and of a unit that is silent only where they
 * are.
 */
public final class LeadRanks {
    private static final ObjectMapper JSON = new ObjectMapper();

    private LeadRanks() {}

    /** Waits for the units, some two seconds at the most. @param node gets "ranks", and "silent" if they were asked */
    public static void describe(ObjectNode node, NodeJob job, RankStatus rankStatus) throws InterruptedException {
        Map<Integer, UnitRanks> told = rankStatus.ask();
        Map<Integer, ObjectNode> ranks = new TreeMap<>();
        for (int number = 0; number < job.units().size(); number++) {
            Unit unit = job.units().get(number);
            for (int rank = unit.first(); rank < unit.first() + unit.count(); rank++) {
                ObjectNode one = rank(rank, unit);
                one.putArray("endpoints");
                ranks.put(rank, one);
            }
            if (told.containsKey(number)) {
                tell(ranks, unit, told.get(number));
            }
        }
        node.putArray("ranks").addAll(ranks.values());
        if (rankStatus.asks()) {
            ArrayNode silent = node.putArray("silent");
            IntStream.range(0, job.units().size()).filter(number -> !told.containsKey(number))
                    .forEach(number -> silent.add(job.units().get(number).name()));
        }
    }

    private static void tell(Map<Integer, ObjectNode> ranks, Unit unit, UnitRanks told) {
        Map<Integer, List<Endpoint>> endpoints = told.byRank();
        for (RankStatusRow row : told.ranks()) {
            ObjectNode one = rank(row.number(), unit);
            if (row.mpiRank() >= 0) {
                one.put("mpi_rank", row.mpiRank());
            }
            one.put("pid", row.pid()).put("alive", row.alive());
            List<Endpoint> own = endpoints.getOrDefault(row.number(), List.of());
            ArrayNode shown = one.putArray("endpoints");
            own.forEach(endpoint -> RankJson.endpoint(shown, endpoint));
            if (own.size() < row.endpoints()) {
                one.put("endpoints_left_out", row.endpoints() - own.size());
            }
            RankJson.counters(one.putObject("counters"), row.counters());
            ranks.put(row.number(), one);
        }
    }

    private static ObjectNode rank(int number, Unit unit) {
        return JSON.createObjectNode().put("rank", number).put("host", unit.host()).put("unit", unit.name());
    }
}
