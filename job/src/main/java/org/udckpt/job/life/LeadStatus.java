package org.udckpt.job.life;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.udckpt.address.CountersFile.Counters;
import org.udckpt.job.checkpoint.LeadCheckpoints;
import org.udckpt.job.nodes.NodeCounts;
import org.udckpt.job.nodes.NodeJob;
import org.udckpt.job.nodes.Unit;
import org.udckpt.job.store.CallRow;
import org.udckpt.job.tiers.Drain;

/**
 * The lead's part of {@code status --json}: where the ranks are, and what they count and write together. Their processes, endpoints and own counters are told on
 * their hosts, by their units' names.
 */
final class LeadStatus {
    private static final ObjectMapper JSON = new ObjectMapper();

    private LeadStatus() {}

    static ObjectNode of(NodeJob job, Path images, LeadCheckpoints checkpoints, NodeCounts counted, Optional<Drain> drain) {
        ObjectNode node = JSON.createObjectNode().put("name", job.name()).put("dir", images.toString()).put("state", checkpoints.state());
        checkpoints.progress().ifPresent(progress -> progress.describe(node.putObject("write")));
        drain.ifPresent(running -> running.describe(node.putObject("drain")));
        ObjectNode taken = node.putObject("checkpoints");
        checkpoints.statistics().describe(taken);
        describeCommit(taken, checkpoints.committed(), job.units());
        node.put("generation", job.generation());
        Counters all = counted.messages();
        node.putObject("counters").put("ud_sends", all.udSends()).put("ud_rewrites", all.udRewrites()).put("ud_receives", all.udReceives())
                .put("ud_translations", all.udTranslations()).put("cache_misses", all.cacheMisses()).put("table_misses", all.tableMisses())
                .put("unknown_peers", all.unknownPeers()).put("ah_created", all.addressHandles()).put("rc_sends", all.rcSends());
        ArrayNode ranks = node.putArray("ranks");
        ArrayNode units = node.putArray("units");
        for (Unit unit : job.units()) {
            units.addObject().put("name", unit.name()).put("host", unit.host()).put("first", unit.first()).put("count", unit.count());
            for (int rank = unit.first(); rank < unit.first() + unit.count(); rank++) {
                ranks.addObject().put("rank", rank).put("host", unit.host()).put("unit", unit.name()).putArray("endpoints");
            }
        }
        node.putArray("processes");
        return node;
    }

    private static void describeCommit(ObjectNode node, CallRow call, List<Unit> units) {
        if (call != null) {
            ObjectNode commit = node.putObject("last_commit").put("ms", call.nanoseconds() / 1e6);
            if (call.slowest() != CallRow.LEAD) {
                commit.putObject("slowest").put("node", call.slowest()).put("host", units.get(call.slowest()).host()).put("ms", call.longest() / 1e6);
            }
            ArrayNode levels = commit.putArray("levels_ms");
            for (long level : call.levels()) {
                levels.add(level / 1e6);
            }
        }
    }
}
