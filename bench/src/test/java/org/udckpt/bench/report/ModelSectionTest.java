package org.udckpt.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.udckpt.bench.measured.Row;
import org.udckpt.bench.measured.RowFile;
import org.udckpt.bench.model.Costs;

/** {@code bench model} against the committed runs of real applications, and the simulated coordination. */
class ModelSectionTest {
    private static final Path RESULTS = Path.of(System.getProperty("udckpt.root"), "results");

    private static List<ModelSection.Comparison> ours() throws Exception {
        List<Row> rows = new ArrayList<>();
        int file = 0;
        for (String run : List.of("suite", "every30", "intervals")) {
            rows.addAll(
                    Renumbered.of(RowFile.read(RESULTS.resolve("runs").resolve(run).resolve(RowFile.NAME)), file++));
        }
        return ModelSection.compare(new Results(rows));
    }

    @Test
    void stopsAndWritesOfOurOwnRuns() throws Exception {
        List<ModelSection.Comparison> all = ours();
        assertTrue(all.size() >= 10, all.toString());
        for (ModelSection.Comparison one : all) {
            assertWithin(2.1, one.stop(), one.modelStop(), "stop of " + one);
            assertWithin(1.6, one.write(), one.modelWrite(), "write of " + one);
        }
    }

    /** Single runs scatter by more than a checkpoint costs: the middle of all is what can be compared. */
    @Test
    void theCostOfACheckpointInTheMiddleOfOurOwnRuns() throws Exception {
        List<Double> costs = ours().stream().flatMap(one -> one.costs().stream()).toList();
        assertTrue(costs.size() >= 20, costs.toString());
        assertWithin(1.3, Sample.of(costs).median(),
                Costs.USUAL.stopBase() + Costs.USUAL.agent() + Costs.USUAL.slowDown() * 0.25, "median of " + costs);
    }

    @Test
    void theAgreementThatWasSimulated() throws Exception {
        List<String> lines = Files.readAllLines(RESULTS.resolve("scale.csv"));
        List<String> names = List.of(lines.getFirst().split(","));
        Map<Long, Double> simulated = new HashMap<>();
        for (String line : lines.subList(1, lines.size())) {
            List<String> cells = List.of(line.split(","));
            if (cells.get(names.indexOf("network")).equals("1 GbE")) {
                simulated.put(Long.parseLong(cells.get(names.indexOf("nodes"))),
                        Long.parseLong(cells.get(names.indexOf("agreement_ns"))) / 1e9);
                assertEquals(Costs.USUAL.fanOut(), Integer.parseInt(cells.get(names.indexOf("fan_out"))));
            }
        }
        assertTrue(simulated.size() >= 10, simulated.toString());
        simulated.forEach((nodes, seconds) -> assertWithin(1.3, seconds, Costs.USUAL.coordination(nodes),
                "agreement of " + nodes + " nodes"));
    }

    private static void assertWithin(double factor, double measured, double model, String what) {
        assertTrue(model < factor * measured && measured < factor * model,
                what + ": measured " + measured + ", model " + model);
    }
}
