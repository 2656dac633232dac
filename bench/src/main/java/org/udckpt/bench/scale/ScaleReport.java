package org.udckpt.bench.scale;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.udckpt.coordination.protocol.Op;

/** The results as a page and as a table for programs. */
final class ScaleReport {
    private static final List<Op> PHASES = List.of(Op.SUSPEND, Op.DRAIN, Op.SNAPSHOT, Op.RESUME, Op.WRITE, Op.COMMIT);
    private static final double MS = 1e6;

    private final List<ScaleResult> jobs = new ArrayList<>();
    private final List<ScaleResult> growth = new ArrayList<>();
    private final StringBuilder memory = new StringBuilder();

    void job(ScaleResult result) {
        jobs.add(result);
    }

    void growth(ScaleResult result) {
        growth.add(result);
    }

    /** @param values what {@link CoordinatorMemory} prints */
    void memory(Pattern pattern, Map<String, Long> values) {
        memory.append("| %,d | %,d | %.0f | %.0f | %.1f |%n".formatted(pattern.ranks(), values.get("endpoints"),
                values.get("resident") / 1048576.0,
                values.get("heap") / 1048576.0, values.get("answers") / 1e6));
    }

    String markdown() {
        StringBuilder page = new StringBuilder("""
                # Coordination of many nodes: `bench/scale --results results`

                The code that agents run (tree, checkpoint, exchange of tables; with its real messages), over a \
                simulated network in virtual time.
                [docs/internals/coordination.md](../docs/internals/coordination.md) has the model and its limits. \
                The same seed gives the same numbers, but for the memory, which is measured.

                ## On top of the slowest node, in milliseconds

                Agreement is suspend + drain (two rounds) + snapshot; bar: 250 ms for 32,752 ranks. Tables is the \
                exchange of addresses after a restart, on top of the node
                whose ranks were last; bar: 2 s.

                | ranks | nodes | network | agreement | suspend | drain | snapshot | resume | write | commit | tables |
                |---|---|---|---|---|---|---|---|---|---|---|
                """);
        for (ScaleResult result : jobs) {
            page.append("| %,d | %,d | %s | **%.1f** |".formatted(result.pattern().ranks(), result.tree().nodes(),
                    result.network().name(), result.agreement() / MS));
            PHASES.forEach(op -> page.append(" %.1f |".formatted(result.coordination(op) / MS)));
            page.append(" **%.0f** |%n".formatted(result.exchange().nanos() / MS));
        }
        page.append("""

                ## Traffic of one node, sent and received together, with all headers

                Bar: 8 MB for 32,752 ranks, tables and a checkpoint together.

                | ranks | network | most of a node, MB | tables: most, MB | median, kB | checkpoint: most, kB | \
                median, kB | longest queue, messages | largest queue, MB |
                |---|---|---|---|---|---|---|---|---|
                """);
        for (ScaleResult result : jobs) {
            ScaleResult.Step exchange = result.exchange();
            ScaleResult.Step checkpoint = result.checkpoint();
            page.append("| %,d | %s | **%.1f** | %.1f | %.0f | %.0f | %.0f | %d | %.1f |%n".formatted(
                    result.pattern().ranks(), result.network().name(), result.mostBytes() / 1e6,
                    exchange.mostBytes() / 1e6, exchange.medianBytes() / 1e3, checkpoint.mostBytes() / 1e3,
                    checkpoint.medianBytes() / 1e3,
                    Math.max(exchange.longestQueue(), checkpoint.longestQueue()),
                    Math.max(exchange.largestQueue(), checkpoint.largestQueue()) / 1e6));
        }
        page.append("""

                ## The coordinator's memory

                Measured: a JVM with a heap of at most 768 MiB that holds the root alone, after its children have \
                said all that they have and need and before any answer is
                acknowledged, the children's own work counted too (`VmHWM`, tables in shared memory included). Bar: \
                1024 MiB for 1,048,576 ranks.

                | ranks | endpoints | resident, MiB | of it heap, MiB | answers, MB |
                |---|---|---|---|---|
                """).append(memory);
        page.append("""

                ## Growth: 16 ranks a node, a checkpoint, 1 GbE

                | nodes | levels below the root | agreement, ms | resume, ms | commit, ms | most of a node, kB | \
                longest queue, messages |
                |---|---|---|---|---|---|---|
                """);
        for (ScaleResult result : growth) {
            page.append("| %,d | %d | %.2f | %.2f | %.2f | %.0f | %d |%n".formatted(result.tree().nodes(),
                    result.tree().depth(), result.agreement() / MS,
                    result.coordination(Op.RESUME) / MS, result.coordination(Op.COMMIT) / MS,
                    result.checkpoint().mostBytes() / 1e3, result.checkpoint().longestQueue()));
        }
        return page.toString();
    }

    /** A row a run: times in nanoseconds, traffic in bytes. */
    String csv() {
        StringBuilder table = new StringBuilder("ranks,nodes,ranks_per_node,fan_out,network,agreement_ns");
        PHASES.forEach(op -> table.append(",%1$s_ns,%1$s_slowest_ns".formatted(op.name().toLowerCase(Locale.ROOT))));
        table.append(
                ",checkpoint_most_bytes,checkpoint_median_bytes,checkpoint_queue,tables_ns,"
                        + "tables_most_bytes,tables_median_bytes,tables_queue,tables_queue_bytes\n");
        List<ScaleResult> all = new ArrayList<>(jobs);
        all.addAll(growth);
        for (ScaleResult result : all) {
            table.append("%d,%d,%d,%d,%s,%d".formatted(result.pattern().ranks(), result.tree().nodes(),
                    result.pattern().perNode(), result.tree().fanOut(),
                    result.network().name(), result.agreement()));
            PHASES.forEach(op -> table.append(",%d,%d".formatted(result.coordination(op), result.slowest(op))));
            table.append(",%d,%d,%d".formatted(result.checkpoint().mostBytes(), result.checkpoint().medianBytes(),
                    result.checkpoint().longestQueue()));
            ScaleResult.Step exchange = result.exchange();
            table.append(exchange == null ? ",,,,,\n"
                    : ",%d,%d,%d,%d,%d%n".formatted(exchange.nanos(), exchange.mostBytes(), exchange.medianBytes(),
                            exchange.longestQueue(),
                            exchange.largestQueue()));
        }
        return table.toString();
    }
}
