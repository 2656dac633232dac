package org.udckpt.bench.application;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.udckpt.bench.application.TrialVerdict.Taken;
import org.udckpt.bench.job.Cell;

/** {@code results/applications.md}. */
final class Report {
    private static final double MIB = 1 << 20;
    private final Path root;
    private final TrialVerdicts verdicts;

    /** @param root of this clone, whose path is not for others */
    Report(Path root, TrialVerdicts verdicts) {
        this.root = root;
        this.verdicts = verdicts;
    }

    List<String> lines(List<Cell> cells) throws IOException {
        List<String> lines = new ArrayList<>(head(cells));
        lines.add(
                "| application | MPI, launcher | transport | plain | two checkpoints | killed and restarted twice | "
                        + "stop, ms | memory in an image, MiB |");
        lines.add("|---|---|---|---|---|---|---|---|");
        for (Cell cell : cells) {
            lines.add("| " + String.join(" | ", row(cell)) + " |");
        }
        lines.addAll(List.of("",
                "The row's runs again, with these commands inside of `udckpt run --name JOB --dir DIR --files .` "
                        + "(SESSION: a directory for Open MPI's own files; programs of this repository are there "
                        + "after a build):",
                "",
                "| again | what it runs | environment |", "|---|---|---|"));
        for (Cell cell : cells) {
            lines.add("| `%s` | `udckpt run --name JOB --dir DIR --files . %s` | `%s` |".formatted(again(cell),
                    String.join(" ", cell.words(Path.of("SESSION"))).replace(root + "/", ""),
                    cell.environment().entrySet().stream().map(Object::toString).collect(Collectors.joining(" "))));
        }
        return lines;
    }

    private static String again(Cell cell) {
        return "bench/applications " + cell.workload().name() + " --launcher " + cell.launcher().word()
                + " --transport " + cell.transport().word();
    }

    private List<String> row(Cell cell) throws IOException {
        List<Taken> taken = new ArrayList<>();
        List<String> words = new ArrayList<>(List.of(cell.workload().title(),
                cell.launcher().title() + ", " + cell.ranks() + " ranks", cell.transport().ucx()));
        for (TrialMode way : TrialMode.values()) {
            Optional<TrialVerdict> verdict = verdicts.of(cell, way);
            words.add(verdict.map(Report::text).orElse("not run"));
            verdict.ifPresent(one -> taken.addAll(one.checkpoints()));
        }
        words.add(taken.stream().map(one -> String.format(Locale.ROOT, "%.0f", one.stopMs()))
                .collect(Collectors.joining(", ")));
        words.add(taken.stream().map(one -> String.format(Locale.ROOT, "%.0f", one.bytes() / MIB))
                .collect(Collectors.joining(", ")));
        return words;
    }

    private static String text(TrialVerdict verdict) {
        String words = verdict.words().lines().findFirst().orElse("").replace("|", "\\|");
        return verdict.passed() ? words + String.format(Locale.ROOT, " (%.0f s)", verdict.seconds())
                : "**failed**: " + words;
    }

    private List<String> head(List<Cell> cells) throws IOException {
        int passed = 0;
        for (Cell cell : cells) {
            boolean all = true;
            for (TrialMode way : TrialMode.values()) {
                all &= verdicts.of(cell, way).filter(TrialVerdict::passed).isPresent();
            }
            passed += all ? 1 : 0;
        }
        return List.of("# Applications from Debian, disturbed and undisturbed", "",
                "Written by `bench/applications` on Linux %s, %d cores, on the soft fabric; Debian packages: %s."
                        .formatted(System.getProperty("os.version"),
                                Runtime.getRuntime().availableProcessors(), versions(cells)),
                "",
                "* plain: under `udckpt run`, without a checkpoint; its answer is what the others are compared with;",
                "* two checkpoints: at about a quarter and half of the run, which goes on;",
                "* killed and restarted twice: a checkpoint, a second more of work, `kill -9` of all processes of the "
                        + "job, `udckpt restart`, which gives every",
                "  queue pair another LID and another number (checked), and goes on; a checkpoint of that, the same "
                        + "again.",
                "",
                "Each cell says how the answer was judged. \"n of m lines bit for bit\": the last incarnation printed "
                        + "n of the m lines of the answer, and they are the last n of",
                "the undisturbed run's. bench/workloads/NAME/workload says which lines, files and checks those are, "
                        + "and why a tolerance is needed where there is one.",
                "The times (seconds of the whole way, ms of each checkpoint's stop) are those of a machine whose "
                        + "cores others may have wanted as well.",
                "",
                "%d of %d rows have all three ways passed.".formatted(passed, cells.size()), "");
    }

    private static String versions(List<Cell> cells) throws IOException {
        List<String> words = new ArrayList<>(List.of("dpkg-query", "-W", "-f=${Package} ${Version}\n"));
        words.addAll(new TreeSet<>(cells.stream().flatMap(cell -> cell.packages().stream()).toList()));
        words.add("libucx0");
        Process process = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        try (BufferedReader reader = process.inputReader()) {
            return reader.lines().collect(Collectors.joining(", "));
        }
    }
}
