package org.udckpt.job.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Locale;
import org.udckpt.image.CheckpointReader;
import org.udckpt.image.PhaseTime;

/** The phases of a checkpoint as {@code list} and {@code inspect} show them: [{"phase", "rank" unless the whole job's, "ms"}]. */
final class PhasesJson {
    private PhasesJson() {}

    static void describe(ObjectNode node, CheckpointReader reader) throws IOException {
        ArrayNode phases = node.putArray("phases");
        for (PhaseTime phase : reader.table("phases", PhaseTime.class)) {
            ObjectNode row = phases.addObject().put("phase", phase.phase().name().toLowerCase(Locale.ROOT));
            if (phase.rank() != PhaseTime.JOB) {
                row.put("rank", phase.rank());
            }
            row.put("ms", phase.nanoseconds() / 1e6);
        }
    }
}
