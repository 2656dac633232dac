package org.udckpt.bench.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code udckpt bench model}. */
@Command(name = "model", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
        description = "What checkpoints would cost a job of any size on storage of any speed: stop, write, the "
                + "interval that pays, efficiency. docs/operator/capacity.md has the formulas.")
public final class ModelCommand implements Callable<Integer> {
    @Option(names = "--ranks", paramLabel = "N", defaultValue = "32752", description = "of the job")
    private long ranks;
    @Option(names = "--ranks-per-node", paramLabel = "N", defaultValue = "16", description = "at most")
    private int ranksPerNode;
    @Option(names = "--memory", paramLabel = "BYTES", defaultValue = "1.16G", converter = Quantity.Bytes.class,
            description = "of each rank")
    private double memory;
    @Option(names = "--stored", paramLabel = "PART", defaultValue = "1",
            description = "of the memory that an image holds (zero pages, compression, changes only)")
    private double stored;
    @Option(names = "--node-rate", paramLabel = "RATE", defaultValue = "none", converter = Quantity.Bytes.class,
            description = "bytes a second that a node writes")
    private double nodeRate;
    @Option(names = "--total-rate", paramLabel = "RATE", defaultValue = "57.6G", converter = Quantity.Bytes.class,
            description = "bytes a second that all nodes write together, or none")
    private double totalRate;
    @Option(names = "--slow-rate", paramLabel = "RATE", converter = Quantity.Bytes.class,
            description = "of all nodes to slower storage, to which images are copied (--tiers) and from which the "
                    + "job is restarted")
    private Double slowRate;
    @Option(names = "--node-mtbf", paramLabel = "TIME", defaultValue = "5y", converter = Quantity.Time.class,
            description = "mean time between failures of one node")
    private double nodeMtbf;
    @Option(names = "--mtbf", paramLabel = "TIME", converter = Quantity.Time.class,
            description = "of the whole job, instead")
    private Double mtbf;
    @Option(names = "--stop-base", paramLabel = "TIME", defaultValue = "45ms", converter = Quantity.Time.class,
            description = "for which a rank without memory stands still")
    private double stopBase;
    @Option(names = "--stop-per-gib", paramLabel = "TIME", defaultValue = "23ms", converter = Quantity.Time.class,
            description = "more for each GiB in pages of 4 KiB, with a processor for each rank")
    private double stopPerGib;
    @Option(names = "--write-base", paramLabel = "TIME", defaultValue = "100ms", converter = Quantity.Time.class,
            description = "that a write takes however little is written")
    private double writeBase;
    @Option(names = "--agent-time", paramLabel = "TIME", defaultValue = "500ms", converter = Quantity.Time.class,
            description = "that ranks lose to the agent at each checkpoint, where they poll on all processors; 0ms "
                    + "where one is left to it")
    private double agent;
    @Option(names = "--level-time", paramLabel = "TIME", defaultValue = "1.3ms", converter = Quantity.Time.class,
            description = "for a message down one level of the tree of nodes, and back (simulated)")
    private double levelTime;
    @Option(names = "--fan-out", paramLabel = "N", defaultValue = "16", description = "nodes below a node of the tree")
    private int fanOut;
    @Option(names = "--rounds", paramLabel = "N", defaultValue = "6",
            description = "through the tree while the job stands still")
    private int rounds;
    @Option(names = "--slow-down", paramLabel = "PART", defaultValue = "0.1",
            description = "of the job while its image is written (assumed)")
    private double slowDown;
    @Option(names = "--relaunch", paramLabel = "TIME", defaultValue = "60s", converter = Quantity.Time.class,
            description = "from a failure until processes start again")
    private double relaunch;
    @Option(names = "--plots", paramLabel = "DIR", description = "write plots over ranks up to exascale (SVG) there")
    private Path plots;
    @Option(names = "--json", description = "as JSON")
    private boolean json;
    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        try {
            ModelWorkload job = new ModelWorkload(ranks, ranksPerNode, memory, stored);
            Storage storage = new Storage(nodeRate, totalRate);
            if (Double.isInfinite(storage.rate(job.nodes()))) {
                throw new IllegalArgumentException("--node-rate and --total-rate cannot both be none");
            }
            Storage slow = slowRate == null ? null : new Storage(Double.POSITIVE_INFINITY, slowRate);
            Costs costs = new Costs(stopBase, stopPerGib / (1L << 30), writeBase, agent, levelTime, fanOut, rounds,
                    slowDown, relaunch);
            double failures = mtbf != null ? mtbf : nodeMtbf / job.nodes();
            if (!(failures > 0)) {
                throw new IllegalArgumentException("a mean time between failures is above 0");
            }
            Prediction ours = Prediction.of(job, storage, slow, costs, failures);
            Prediction blocking = Prediction.blocking(job, storage, slow, costs, failures);
            System.out.print(
                    json ? ModelReport.json(job, ours, blocking) : ModelReport.text(job, storage, ours, blocking));
            if (plots != null) {
                write(new ScalePlots(job, costs, nodeMtbf));
            }
            return ExitCode.DONE.value();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage());
        }
    }

    private void write(ScalePlots scale) {
        try {
            Files.createDirectories(plots);
            Files.writeString(plots.resolve("model-checkpoint-time.svg"), scale.times());
            Files.writeString(plots.resolve("model-efficiency.svg"), scale.efficiencies());
        } catch (IOException e) {
            throw new Failure(ExitCode.IO, "plots in " + plots + ": " + e.getMessage(), e);
        }
    }
}
