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
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code udckpt bench micro}. */
@Command(name = "micro", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
        description = "Measures the hot paths: those in Java with JMH, those in C by callgrind's counts of instructions, and compares with the committed results.")
public final class MicroCommand implements Callable<Integer> {
    private static final int WORSE = 1;
    private static final Duration LIMIT = Duration.ofMinutes(60);

    @Option(names = "--only", split = ",", paramLabel = "java|c", description = "default: both")
    private Set<Language> languages = EnumSet.allOf(Language.class);
    @Option(names = "--threshold", paramLabel = "PERCENT", defaultValue = "10", description = "by which a time may be more than before")
    private double threshold;
    @Option(names = "--quick", description = "short runs, of which little can be concluded")
    private boolean quick;
    @Option(names = "--results", paramLabel = "DIR", description = "where micro.csv and overhead.txt are; default: results of this clone")
    private Path results;
    @Option(names = "--update", description = "write what was measured to DIR/micro.csv, to be committed (for overhead.txt: bench/overhead)")
    private boolean update;

    private enum Language { JAVA, C }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path directory = results != null ? results : root().resolve("results");
        boolean isWorse = false;
        if (languages.contains(Language.JAVA)) {
            List<Score> now = JavaScores.measure(quick);
            Path file = directory.resolve("micro.csv");
            isWorse |= compare(now, Files.exists(file) ? ScoreFile.read(file) : List.of(), file);
            if (update) {
                ScoreFile.write(file, now);
            }
        }
        if (languages.contains(Language.C)) {
            Path file = directory.resolve("overhead.txt");
            isWorse |= compare(InstructionCounts.of(counted()), Files.exists(file) ? InstructionCounts.of(Files.readAllLines(file)) : List.of(), file);
        }
        return isWorse ? WORSE : ExitCode.DONE.value();
    }

    private boolean compare(List<Score> now, List<Score> before, Path file) {
        if (before.isEmpty()) {
            Messages.info("nothing to compare with in " + file + (file.endsWith("micro.csv") ? "; --update writes it" : ""));
        }
        boolean isWorse = false;
        for (Comparison.Line line : new Comparison(threshold / 100).of(now, before)) {
            isWorse |= line.isWorse();
            Score score = line.score();
            System.out.printf(Locale.ROOT, "%-58s %14.2f +- %10.2f %-14s %s%s%n", score.name(), score.value(), score.error(), score.unit(), line.change(), line.isWorse() ? "  WORSE" : "");
        }
        return isWorse;
    }

    private List<String> counted() throws IOException, InterruptedException {
        List<String> lines = new ArrayList<>();
        for (String part : List.of("verbs", "rc")) {
            try (var command = org.udckpt.bench.Command.start(root(), Map.of(), _ -> { }, List.of(root().resolve("bench/overhead").toString(), part))) {
                if (command.await(LIMIT) != 0) {
                    throw new Failure(ExitCode.UNSUPPORTED, "bench/overhead " + part + " failed (valgrind is needed): " + command.describe());
                }
                lines.addAll(command.output().allLines());
            }
        }
        return lines;
    }

    /** Of the sources; whoever makes a command to describe it need not know. */
    private static Path root() {
        return Path.of(System.getProperty("udckpt.root"));
    }
}
