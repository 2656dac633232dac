package org.udckpt.job.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.write.PhaseTime;

/** The phases of a checkpoint as {@code list} and {@code inspect} show them: [{"phase", "rank" unless the whole job's or node's, "ms"}]. */
final class PhasesJson {
    private PhasesJson() {}

    static void describe(ObjectNode node, CheckpointReader reader) throws IOException {
        describe(node, reader.jobTable("phases", PhaseTime.class));
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
