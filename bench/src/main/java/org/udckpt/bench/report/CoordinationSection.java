package org.udckpt.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.bench.model.Quantity;
import org.udckpt.bench.plot.Axis;
import org.udckpt.bench.plot.LinePlot;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** What coordination costs the more ranks there are: the simulation of {@code bench/scale} (results/scale.csv). */
final class CoordinationSection {
    private static final List<String> PARTS = List.of("agreement_ns", "resume_ns");

    private CoordinationSection() {}

    /** @param file of {@code bench/scale --results} */
    static ReportSection of(Path file) throws IOException {
        Map<String, TreeMap<Double, Double>> byNetwork = new LinkedHashMap<>(); // and by ranks of a node
        List<String> lines = Files.readAllLines(file);
        List<String> header = Arrays.asList(lines.getFirst().split(",", -1));
        for (String line : lines.subList(1, lines.size())) {
            String[] cells = line.split(",", -1);
            double sum = PARTS.stream().mapToDouble(part -> number(file, header, cells, part)).sum();
            String network = cells[column(file, header, "network")] + ", "
                    + cells[column(file, header, "ranks_per_node")] + " a node";
            byNetwork.computeIfAbsent(network, _ -> new TreeMap<>()).put(number(file, header, cells, "ranks"),
                    sum / 1e9);
        }
        double[] ranks = byNetwork.values().stream().flatMap(one -> one.keySet().stream())
                .mapToDouble(Double::doubleValue).toArray();
        double[] seconds = byNetwork.values().stream().flatMap(one -> one.values().stream())
                .mapToDouble(Double::doubleValue).toArray();
        LinePlot plot = new LinePlot("Coordination of a checkpoint, on top of the nodes' own work",
                Axis.around("ranks", true, value -> "%,.0f".formatted(value), ranks),
                Axis.around("time", false, Quantity::time, seconds));
        byNetwork.forEach((network, times) -> {
            double[] at = doubles(times.keySet());
            double[] took = doubles(times.values());
            if (at.length == 1) {
                plot.points(network, at, took);
            } else {
                plot.line(network, at, took);
            }
        });
        return new ReportSection("Coordination time against ranks",
                List.of("The real code of the agents over a network and with ranks that are simulated (bench/scale): "
                        + "agreement (suspend, drain in two rounds, snapshot) and resume."),
                List.of(), List.of(new ReportSection.Plot("coordination", plot.svg())));
    }

    private static double[] doubles(Collection<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private static double number(Path file, List<String> header, String[] cells, String name) {
        return Double.parseDouble(cells[column(file, header, name)]);
    }

    private static int column(Path file, List<String> header, String name) {
        int column = header.indexOf(name);
        if (column < 0) {
            throw new Failure(ExitCode.CORRUPT,
                    file + " has no column " + name + ": it is to be a file of 'udckpt bench scale --results'");
        }
        return column;
    }
}
