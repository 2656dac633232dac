package org.udckpt.bench.run;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.bench.job.Workplace;
import org.udckpt.bench.measured.Row;

/** The rows of a run's checkpoints and of its restart. */
final class CheckpointRows {
    private CheckpointRows() {}

    static List<Row> rows(Workplace workplace) throws IOException, InterruptedException {
        List<Row> rows = new ArrayList<>();
        for (String id : workplace.checkpoints()) {
            JsonNode one = workplace.complete(id);
            rows.add(new Row.Checkpoint(workplace.name(), id, one.path("bytes").asLong(),
                    one.path("stored_bytes").asLong(), ns(one.path("stop_ms").path("max")),
                    ns(one.path("stop_ms").path("median")), ns(one.path("write_ms"))));
            Map<String, Long> slowest = new LinkedHashMap<>();
            one.path("phases")
                    .forEach(phase -> slowest.merge(phase.path("phase").asText(), ns(phase.path("ms")), Math::max));
            slowest.forEach((phase, ns) -> rows.add(new Row.Phase(workplace.name(), id, phase, ns)));
        }
        return rows;
    }

    /** @param ns that the restart took */
    static Row restart(Workplace workplace, String id, long ns) throws IOException, InterruptedException {
        return new Row.Restart(workplace.name(), id, ns, workplace.complete(id).path("bytes").asLong());
    }

    private static long ns(JsonNode milliseconds) {
        return Math.round(milliseconds.asDouble() * 1e6);
    }
}
