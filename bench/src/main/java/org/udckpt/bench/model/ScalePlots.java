package org.udckpt.bench.model;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;
import org.udckpt.bench.plot.Axis;
import org.udckpt.bench.plot.LinePlot;

/** A job over ranks, from one node to a machine of a million nodes, on kinds of storage that machines have. */
final class ScalePlots {
    private static final int POINTS = 61;
    private static final double DECADES = 6;

    /** @param blocking the job stands still meanwhile */
    private record Kind(String name, Storage storage, boolean blocking) {}

    private static final List<Kind> KINDS = List.of(
            new Kind("file system, 57.6 GB/s, standing", new Storage(Double.POSITIVE_INFINITY, 57.6e9), true),
            new Kind("file system, 57.6 GB/s", new Storage(Double.POSITIVE_INFINITY, 57.6e9), false),
            new Kind("burst buffer, 1.7 TB/s", new Storage(5e9, 1.7e12), false),
            new Kind("burst buffer, 10 TB/s", new Storage(12e9, 10e12), false),
            new Kind("SSD a node, 2 GB/s", new Storage(2e9, Double.POSITIVE_INFINITY), false),
            new Kind("SSD a node, 6 GB/s", new Storage(6e9, Double.POSITIVE_INFINITY), false));

    private final ModelWorkload job;
    private final Costs costs;
    private final double nodeMtbf;

    ScalePlots(ModelWorkload job, Costs costs, double nodeMtbf) {
        this.job = job;
        this.costs = costs;
        this.nodeMtbf = nodeMtbf;
    }

    /** How long until an image is complete, and how long the job stands still; the published point as a mark. */
    String times() {
        double[] ranks = ranks();
        List<double[]> values = new ArrayList<>();
        KINDS.stream().filter(kind -> !kind.blocking)
                .forEach(kind -> values.add(DoubleStream.of(ranks).map(n -> predict(kind, n).write()).toArray()));
        values.add(DoubleStream.of(ranks).map(n -> predict(KINDS.getLast(), n).stop()).toArray());
        double[] all = values.stream().flatMapToDouble(DoubleStream::of).toArray();
        LinePlot plot = new LinePlot("Until a checkpoint is complete, " + Quantity.bytes(job.rankBytes()) + " a rank",
                rankAxis(ranks), Axis.around("time", true, Quantity::time, all));
        int next = 0;
        for (Kind kind : KINDS) {
            if (!kind.blocking) {
                plot.line(kind.name, ranks, values.get(next++));
            }
        }
        plot.line("the job stands still", ranks, values.getLast());
        return plot.points("38 TB, 32,752 ranks: 11 min", new double[]{32_752}, new double[]{11 * 60}).svg();
    }

    /** The useful part of the time, with checkpoints as often as pays. */
    String efficiencies() {
        double[] ranks = ranks();
        LinePlot plot =
                new LinePlot("Useful part of the time, a node fails each " + Quantity.time(nodeMtbf), rankAxis(ranks),
                        new Axis("useful part", false, 0, 1, value -> Math.round(100 * value) + " %"));
        for (Kind kind : KINDS) {
            plot.line(kind.name, ranks, DoubleStream.of(ranks).map(n -> predict(kind, n).efficiency()).toArray());
        }
        return plot.svg();
    }

    private Prediction predict(Kind kind, double ranks) {
        ModelWorkload scaled = job.withRanks(Math.round(ranks));
        double mtbf = nodeMtbf / scaled.nodes();
        return kind.blocking ? Prediction.blocking(scaled, kind.storage, null, costs, mtbf)
                : Prediction.of(scaled, kind.storage, null, costs, mtbf);
    }

    private double[] ranks() {
        double[] ranks = new double[POINTS];
        for (int i = 0; i < POINTS; i++) {
            // whole nodes
            ranks[i] = job.ranksPerNode() * (double) Math.round(Math.pow(10, DECADES * i / (POINTS - 1)));
        }
        return ranks;
    }

    private static Axis rankAxis(double[] ranks) {
        return Axis.around("ranks", true, value -> value < 1e6 ? String.format(java.util.Locale.ROOT, "%,.0f", value)
                : "%.0f M".formatted(value / 1e6), ranks);
    }
}
