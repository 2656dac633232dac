package org.udckpt.cluster.status;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.udckpt.address.CountersFile.Counters;
import org.udckpt.address.Endpoint;
import org.udckpt.address.VerbsAddress;

/** What {@code status --json} says of a rank, wherever it comes from. */
public final class RankJson {
    private RankJson() {}

    public static void counters(ObjectNode node, Counters counters) {
        node.put("ud_sends", counters.udSends()).put("ud_rewrites", counters.udRewrites())
                .put("ud_receives", counters.udReceives())
                .put("ud_translations", counters.udTranslations()).put("cache_misses", counters.cacheMisses())
                .put("table_misses", counters.tableMisses())
                .put("unknown_peers", counters.unknownPeers()).put("ah_created", counters.addressHandles())
                .put("rc_sends", counters.rcSends()).put("refused", counters.refused());
    }

    public static void endpoint(ArrayNode endpoints, Endpoint endpoint) {
        ObjectNode entry = endpoints.addObject().put("transport", endpoint.transport().name());
        address(entry.putObject("virtual"), endpoint.virtual());
        if (endpoint.real() != null) {
            address(entry.putObject("real"), endpoint.real());
        } else {
            entry.putNull("real");
        }
    }

    private static void address(ObjectNode node, VerbsAddress address) {
        node.put("lid", address.lid()).put("gid", address.gid().toString()).put("qpn", address.qpn());
    }
}
