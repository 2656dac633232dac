package org.udckpt.bench.run;

import java.util.List;
import org.udckpt.bench.measured.Row;

/**
 * How a run ended.
 *
 * @param ns from before its start to its end
 * @param printed by its last incarnation
 * @param failure why it did not come to a good end; null: it did
 * @param rows of its checkpoints and its restart
 * @param command that was run
 */
record RunResult(long ns, List<String> printed, String failure, List<Row> rows, String command) {}
