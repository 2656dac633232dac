package org.udckpt.bench.scale;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Messages;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code udckpt bench scale}. */
@Command(name = "scale", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
        description = "The coordination of a job of up to a million ranks: the code that agents run, over a network "
                + "that is simulated. docs/internals/coordination.md has the model.")
public final class ScaleCommand implements Callable<Integer> {
    private static final Path MEMORY = Path.of("/dev/shm");
    private static final java.util.regex.Pattern PAIR = java.util.regex.Pattern.compile("\\d{1,8}:\\d{1,8}");

    /** Largest power of --growth: with 16 ranks a node, about a million ranks. */
    private static final int MOST_POWER = 16;
    private static final int LEAST_FAN_OUT = 2, MOST_FAN_OUT = 32;

    @Spec
    private CommandSpec spec;
    @Option(names = "--ranks", paramLabel = "N:PER_NODE", split = ",", defaultValue = "32752:16,131072:16,1048576:32",
            description = "jobs, with tables and a checkpoint")
    private List<String> jobs;
    @Option(names = "--growth", paramLabel = "FROM:TO", defaultValue = "7:16",
            description = "jobs of 2^FROM to 2^TO nodes besides, a checkpoint only (a subnet has no LIDs for more "
                    + "than 49,151), or none")
    private String growth;
    @Option(names = "--fan-out", paramLabel = "N", defaultValue = "16", description = "nodes below a node of the tree")
    private int fanOut;
    @Option(names = "--seed", paramLabel = "S", defaultValue = "1", description = "of the nodes' own times")
    private long seed;
    @Option(names = "--faults", paramLabel = "N", defaultValue = "0",
            description = "runs of small jobs in which things go wrong, from the seed on")
    private int faults;
    @Option(names = "--results", paramLabel = "DIR", description = "write scale.md and scale.csv there")
    private Path results;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (fanOut < LEAST_FAN_OUT || fanOut > MOST_FAN_OUT) {
            throw bad("--fan-out " + fanOut + ": give " + LEAST_FAN_OUT + " to " + MOST_FAN_OUT);
        }
        if (faults < 0) {
            throw bad("--faults " + faults + ": give how many runs, or 0 for none");
        }
        List<Pattern> patterns = jobs.stream().map(this::pattern).toList();
        List<Integer> growing = growing();
        if (faults > 0) {
            return faultRuns();
        }
        ScaleReport report = new ScaleReport();
        Path directory = Files.createTempDirectory(MEMORY, "udckpt-scale-");
        try {
            for (Pattern pattern : patterns) {
                report.job(run(pattern, NetworkModel.GIGABIT, true, directory));
                if (pattern.equals(patterns.getFirst())) {
                    report.job(run(pattern, NetworkModel.FAST, true, directory));
                }
                report.memory(pattern, RootProcess.measure(pattern, fanOut, directory));
            }
            for (int nodes : growing) {
                report.growth(run(new Pattern(nodes * 16, 16, 2), NetworkModel.GIGABIT, false, directory));
            }
        } finally {
            Files.delete(directory);
        }
        System.out.print(report.markdown());
        if (results != null) {
            Files.createDirectories(results);
            Files.writeString(results.resolve("scale.md"), report.markdown());
            Files.writeString(results.resolve("scale.csv"), report.csv());
        }
        return ExitCode.DONE.value();
    }

    private ScaleResult run(Pattern pattern, NetworkModel network, boolean exchanges, Path directory) {
        Messages.info(pattern.ranks() + " ranks on " + pattern.nodes() + " nodes, " + network.name());
        try (ScaleRun run = new ScaleRun(pattern, fanOut, network, exchanges, directory, seed)) {
            return run.run();
        }
    }

    private int faultRuns() {
        int committed = 0;
        int aborted = 0;
        for (long one = seed; one < seed + faults; one++) {
            FaultRun run = new FaultRun(one);
            try {
                run.run();
            } catch (RuntimeException e) {
                throw new IllegalStateException("seed " + one + ", " + run + ": " + e.getMessage(), e);
            }
            committed += run.committed();
            aborted += run.aborted();
        }
        System.out.printf("seeds %d to %d: %d checkpoints committed, %d aborted, nothing that must not be%n", seed,
                seed + faults - 1, committed, aborted);
        return ExitCode.DONE.value();
    }

    private List<Integer> growing() {
        List<Integer> nodes = new ArrayList<>();
        if (!growth.equals("none")) {
            int[] range = pair("--growth", growth,
                    "FROM:TO of 0 to " + MOST_POWER + " (7:16: jobs of 128 to 65536 nodes), or none");
            if (range[0] > range[1] || range[1] > MOST_POWER) {
                throw bad("--growth " + growth + ": give FROM:TO of 0 to " + MOST_POWER
                        + ", the smaller one first, or none");
            }
            for (int power = range[0]; power <= range[1]; power++) {
                nodes.add(1 << power);
            }
        }
        return nodes;
    }

    private Pattern pattern(String job) {
        String form = "RANKS:RANKS_OF_A_NODE, as in 32752:16";
        int[] numbers = pair("--ranks", job, form);
        if (numbers[0] == 0 || numbers[1] == 0) {
            throw bad("--ranks " + job + ": give " + form);
        }
        return new Pattern(numbers[0], numbers[1], 2);
    }

    private int[] pair(String flag, String text, String form) {
        if (!PAIR.matcher(text).matches()) {
            throw bad(flag + " " + text + ": give " + form);
        }
        return Stream.of(text.split(":")).mapToInt(Integer::parseInt).toArray();
    }

    private ParameterException bad(String why) {
        return new ParameterException(spec.commandLine(), why);
    }
}
