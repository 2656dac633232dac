package org.udckpt.bench.micro;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code udckpt bench micro}. */
@Command(name = "micro", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
        description = "Measures the hot paths: those in Java with JMH, those in C by callgrind's counts of "
                + "instructions, the soft fabric by perftest; and compares with the committed results.")
public final class MicroCommand implements Callable<Integer> {
    private static final int WORSE = 1;
    private static final Duration LIMIT = Duration.ofMinutes(60);

    @Option(names = "--only", split = ",", paramLabel = "java|c|fabric", description = "default: all")
    private Set<Part> parts = EnumSet.allOf(Part.class);
    @Option(names = "--threshold", paramLabel = "PERCENT", defaultValue = "10",
            description = "by which a time may be more than before")
    private double threshold;
    @Option(names = "--quick", description = "short runs, of which little can be concluded")
    private boolean quick;
    @Option(names = "--results", paramLabel = "DIR",
            description = "where micro.csv, overhead.txt and fabric.txt are; default: results of this clone")
    private Path results;
    @Option(names = "--update",
            description = "write what was measured to DIR/micro.csv, to be committed (for the others: bench/overhead, "
                    + "bench/fabric)")
    private boolean update;

    private enum Part {
        JAVA, C, FABRIC
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path directory = results != null ? results : root().resolve("results");
        boolean isWorse = false;
        if (parts.contains(Part.JAVA)) {
            List<Score> now = JavaScores.measure(quick);
            Path file = directory.resolve("micro.csv");
            isWorse |= compare(now, Files.exists(file) ? ScoreFile.read(file) : List.of(), file);
            if (update) {
                ScoreFile.write(file, now);
            }
        }
        if (parts.contains(Part.C)) {
            List<String> lines = new ArrayList<>(printed("overhead", "verbs"));
            lines.addAll(printed("overhead", "rc"));
            isWorse |= compare(lines, directory.resolve("overhead.txt"), InstructionCounts::of);
        }
        if (parts.contains(Part.FABRIC)) {
            isWorse |= compare(printed("fabric", quick ? "2" : "5"), directory.resolve("fabric.txt"), FabricScores::of);
        }
        return isWorse ? WORSE : ExitCode.DONE.value();
    }

    private boolean compare(List<String> now, Path file, Function<List<String>, List<Score>> scores)
            throws IOException {
        return compare(scores.apply(now), Files.exists(file) ? scores.apply(Files.readAllLines(file)) : List.of(),
                file);
    }

    private boolean compare(List<Score> now, List<Score> before, Path file) {
        if (now.isEmpty()) {
            throw new Failure(ExitCode.INTERNAL, "nothing was measured of what " + file.getFileName()
                    + " has: are these the lines of a benchmark of another version?");
        }
        if (before.isEmpty()) {
            Messages.info(
                    "nothing to compare with in " + file + (file.endsWith("micro.csv") ? "; --update writes it" : ""));
        }
        boolean isWorse = false;
        for (ScoreComparison.Line line : new ScoreComparison(threshold / 100).of(now, before)) {
            isWorse |= line.isWorse();
            Score score = line.score();
            System.out.printf(Locale.ROOT, "%-58s %14.2f +- %10.2f %-14s %s%s%n", score.name(), score.value(),
                    score.error(), score.unit(), line.change(), line.isWorse() ? "  WORSE" : "");
        }
        return isWorse;
    }

    /** The lines of a benchmark that is a program of its own. */
    private static List<String> printed(String benchmark, String argument) throws IOException, InterruptedException {
        try (var command = org.udckpt.bench.command.Command.start(root(), Map.of(), _ -> {},
                List.of(root().resolve("bench").resolve(benchmark).toString(), argument))) {
            if (command.await(LIMIT) != 0) {
                throw new Failure(ExitCode.UNSUPPORTED, "bench/" + benchmark + " " + argument
                        + " failed (valgrind and perftest are needed): " + command.describe());
            }
            return List.copyOf(command.output().allLines());
        }
    }

    /** The root of the sources; not needed to describe a command, so it is read late. */
    private static Path root() {
        return Path.of(System.getProperty("udckpt.root"));
    }
}
