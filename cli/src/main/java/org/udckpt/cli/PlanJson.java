package org.udckpt.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import org.udckpt.inspect.plan.Move;
import org.udckpt.inspect.plan.RestartPlan;
import org.udckpt.process.files.RolledBack;

/** {@code udckpt restart --plan --json}; its schema is in docs/reference/json.md. */
final class PlanJson {
    private PlanJson() {}

    static ObjectNode of(RestartPlan plan) {
        ObjectNode root = JsonOutput.document().put("checkpoint", plan.checkpoint()).put("job", plan.job()).put("life",
                plan.incarnation());
        root.put("nodes", plan.nodes()).put("bytes", plan.bytes());
        ArrayNode moves = root.putArray("moves");
        plan.moves().forEach(move -> describe(moves.addObject(), move));
        ArrayNode files = root.putArray("files");
        plan.files().forEach(change -> describe(unit(files.addObject(), change.unit()), change.file()));
        ArrayNode unseen = root.putArray("unseen");
        plan.unseen()
                .forEach(each -> unit(unseen.addObject(), each.unit()).put("host", each.host()).put("why", each.why()));
        return root;
    }

    private static void describe(ObjectNode node, Move move) {
        unit(node, move.unit()).put("first_rank", move.first()).put("ranks", move.count());
        node.put("from", move.from()).put("to", move.to()).put("moves", !move.from().equals(move.to()));
        move.lids().forEach(node.putArray("old_lids")::add);
        move.newLids().forEach(node.putArray("new_lids")::add);
        node.put("queue_pairs", move.queuePairs()).put("was_soft", move.soft()).put("device", move.device());
    }

    private static void describe(ObjectNode node, RolledBack file) {
        node.put("path", file.path()).put("change", file.what().name().toLowerCase(Locale.ROOT).replace('_', '-'));
        node.put("bytes_now", file.fromSize()).put("bytes_then", file.toSize());
    }

    /** Only of a job that has several. */
    private static ObjectNode unit(ObjectNode node, int unit) {
        return unit < 0 ? node : node.put("unit", unit);
    }
}
