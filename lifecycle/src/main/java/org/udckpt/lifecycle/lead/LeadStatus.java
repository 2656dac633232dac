package org.udckpt.lifecycle.lead;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.udckpt.cluster.NodeCounts;
import org.udckpt.cluster.NodeJob;
import org.udckpt.cluster.Unit;
import org.udckpt.cluster.status.RankJson;
import org.udckpt.lifecycle.checkpoint.CheckpointQueue;
import org.udckpt.store.CallRow;
import org.udckpt.store.tiers.TierFlush;

/**
 * The lead's part of {@code status --json}, without asking anybody: where the units are, and what all ranks count and
 * write together. Each rank's own is {@link LeadRanks}' to say.
 */
public final class LeadStatus {
    private static final ObjectMapper JSON = new ObjectMapper();

    private LeadStatus() {}

    public static ObjectNode of(NodeJob job, Path images, CheckpointQueue checkpoints, CallRow committed,
            NodeCounts counted, Optional<TierFlush> flush) {
        ObjectNode node = JSON.createObjectNode().put("name", job.name()).put("dir", images.toString()).put("state",
                checkpoints.state());
        checkpoints.writing().ifPresent(progress -> progress.describe(node.putObject("write")));
        flush.ifPresent(running -> running.describe(node.putObject("drain")));
        ObjectNode taken = node.putObject("checkpoints");
        checkpoints.statistics().describe(taken);
        describeCommit(taken, committed, job.units());
        node.put("generation", job.generation());
        RankJson.counters(node.putObject("counters"), counted.messages());
        ArrayNode units = node.putArray("units");
        for (Unit unit : job.units()) {
            units.addObject().put("name", unit.name()).put("host", unit.host()).put("first", unit.first()).put("count",
                    unit.count());
        }
        node.putArray("processes");
        return node;
    }

    private static void describeCommit(ObjectNode node, CallRow call, List<Unit> units) {
        if (call != null) {
            ObjectNode commit = node.putObject("last_commit").put("ms", call.nanoseconds() / 1e6);
            if (call.slowest() != CallRow.LEAD) {
                commit.putObject("slowest").put("node", call.slowest()).put("host", units.get(call.slowest()).host())
                        .put("ms", call.longest() / 1e6);
            }
            ArrayNode levels = commit.putArray("levels_ms");
            for (long level : call.levels()) {
                levels.add(level / 1e6);
            }
        }
    }
}
