package org.udckpt.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.inspect.view.CheckpointView;
import org.udckpt.store.CallRow;

/**
 * The phases of a checkpoint as {@code list} and {@code inspect} show them, above all:
 * [{"phase", "rank" unless the whole job's or node's, "ms"}].
 */
final class PhasesJson {
    private PhasesJson() {}

    static void describe(ObjectNode node, CheckpointReader reader) throws IOException {
        describe(node, reader.jobTable("phases", PhaseTime.class));
    }

    /**
     * The coordinator's calls:
     * [{"call", "round", "ms", "slowest": {"node", "host", "ms"} unless it was the lead, "levels_ms"}].
     */
    static void describe(ArrayNode calls, CheckpointView view) {
        for (CallRow call : view.calls()) {
            ObjectNode row = calls.addObject().put("call", call.call()).put("round", call.round()).put("ms",
                    call.nanoseconds() / 1e6);
            view.slowest(call).ifPresent(node -> row.putObject("slowest").put("node", node.index())
                    .put("host", node.host()).put("ms", call.longest() / 1e6));
            ArrayNode levels = row.putArray("levels_ms");
            for (long level : call.levels()) {
                levels.add(level / 1e6);
            }
        }
    }

    static void describe(ObjectNode node, List<PhaseTime> times) {
        ArrayNode phases = node.putArray("phases");
        for (PhaseTime phase : times) {
            ObjectNode row = phases.addObject().put("phase", phase.phase().name().toLowerCase(Locale.ROOT));
            if (phase.rank() != PhaseTime.JOB) {
                row.put("rank", phase.rank());
            }
            row.put("ms", phase.nanoseconds() / 1e6);
        }
    }
}
