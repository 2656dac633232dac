package org.udckpt.bench.application;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.job.BenchPaths;
import org.udckpt.bench.job.Cell;
import org.udckpt.bench.job.Launcher;
import org.udckpt.bench.job.ScratchDirectory;
import org.udckpt.bench.job.UcxTransport;
import org.udckpt.bench.workload.Workload;
import org.udckpt.bench.workload.WorkloadError;
import org.udckpt.bench.workload.Workloads;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code bench/applications}: real applications with checkpoints, kills and restarts, against themselves undisturbed.
 */
@Command(name = "bench/applications", mixinStandardHelpOptions = true, sortOptions = false,
        description = "Runs Debian's MPI applications undisturbed, with two checkpoints, and killed and restarted "
                + "twice, and compares their results.")
public final class Applications implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int USAGE = 64;
    private static final int UNSUPPORTED = 69;

    @Parameters(paramLabel = "NAME",
            description = "directories of bench/workloads; default: all of Debian and of this repository, and "
                    + "results/applications.md is written")
    private List<String> names = List.of();

    @Option(names = "--transport", split = ",", paramLabel = "ud|rc", description = "default: both")
    private Set<UcxTransport> transports = EnumSet.allOf(UcxTransport.class);

    @Option(names = "--launcher", split = ",", paramLabel = "run|mpiexec|mpirun",
            description = "udckpt run -n or mpiexec.hydra for MPICH, mpirun.openmpi for Open MPI; default: all for "
                    + "which Debian has a build")
    private Set<Launcher> launchers = EnumSet.allOf(Launcher.class);

    @Option(names = "--way", split = ",", paramLabel = "plain|checkpoint|restart", description = "default: all three")
    private Set<TrialMode> ways = EnumSet.allOf(TrialMode.class);

    @Option(names = "-n", paramLabel = "N", description = "ranks; default: as the application's description says")
    private Integer ranks;

    @Option(names = "--limit", paramLabel = "SECONDS", defaultValue = "900",
            description = "after which a run counts as hanging (default 900)")
    private int limit;

    @Option(names = "--results", paramLabel = "DIR",
            description = "where what is found is kept (default: target/applications)")
    private Path results;

    @Option(names = "--output", paramLabel = "FILE", description = "write the table of all cells there")
    private Path output;

    @Option(names = "--report", description = "run nothing, write results/applications.md from what was found last")
    private boolean report;

    @Option(names = "--install", description = "as root: install the Debian packages that are missing, first")
    private boolean install; // bench/applications does it before it comes here

    @Option(names = "--packages", hidden = true,
            description = "print the packages of the cells, for bench/applications")
    private boolean packages;

    private final Path root = Path.of(System.getProperty("udckpt.root"));

    /**
     * Exits with 0 when all cells passed, 1 when one failed, 64 for a wrong command line or description, 69 when a
     * program is missing.
     */
    public static void main(String[] arguments) {
        CommandLine line = new CommandLine(new Applications()).setCaseInsensitiveEnumValuesAllowed(true);
        line.setParameterExceptionHandler(
                (exception, parsed) -> say(USAGE, exception.getMessage() + "; see 'bench/applications --help'"));
        line.setExecutionExceptionHandler((exception, command, parsed) -> switch (exception) {
            case WorkloadError wrong -> say(USAGE, wrong.getMessage());
            case BenchFailure failure -> say(FAILED, failure.getMessage());
            default -> say(FAILED, exception.toString());
        });
        System.exit(line.execute(arguments));
    }

    private static int say(int code, String message) {
        System.err.println("udckpt: " + message);
        return code;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Workloads workloads = Workloads.of(root);
        List<Cell> cells = cells(names.isEmpty() ? suite(workloads) : workloads.named(names));
        if (cells.isEmpty()) {
            return say(USAGE, "Debian has no such build: see the sections of bench/workloads/NAME/workload");
        }
        if (packages) {
            new TreeSet<>(cells.stream().flatMap(cell -> cell.packages().stream()).toList())
                    .forEach(System.out::println);
            return 0;
        }
        Path kept = results == null ? root.resolve("target/applications") : results.toAbsolutePath();
        int code = report ? 0 : run(cells, kept);
        if (report || names.isEmpty() || output != null) {
            Path file = output != null ? output : root.resolve("results/applications.md");
            Files.write(file, new Report(root, new TrialVerdicts(kept)).lines(everyCell(workloads)));
        }
        return code;
    }

    private int run(List<Cell> cells, Path kept) throws IOException, InterruptedException {
        for (Cell cell : cells) {
            if (!cell.isInstalled()) {
                return say(UNSUPPORTED, cell.remedy());
            }
            if (!cell.workload().allowedRanks().hold(cell.ranks())) {
                return say(USAGE, cell.workload().name() + " runs with " + cell.workload().allowedRanks()
                        + " ranks, not with " + cell.ranks());
            }
        }
        Trials trials = new Trials(
                new BenchPaths(root, kept, ScratchDirectory.create("udckpt-applications"), Duration.ofSeconds(limit)));
        boolean passed = true;
        for (Cell cell : cells) {
            for (TrialMode way : ways) {
                TrialVerdict verdict = trials.run(cell, way);
                System.out.printf(Locale.ROOT, "%s, %s: %s%s (%.0f s)%n", cell.id(), way.word(),
                        verdict.passed() ? "" : "FAILED: ", verdict.words(), verdict.seconds());
                passed &= verdict.passed();
            }
        }
        return passed ? 0 : FAILED;
    }

    private List<Cell> cells(List<Workload> workloads) {
        List<Cell> cells = new ArrayList<>();
        for (Workload workload : workloads) {
            for (Launcher launcher : launchers) {
                for (UcxTransport transport : transports) {
                    if (workload.builds().containsKey(launcher.mpi())
                            && workload.transports().contains(transport.word())) {
                        cells.add(new Cell(workload, launcher, transport, ranks == null ? workload.ranks() : ranks));
                    }
                }
            }
        }
        return cells;
    }

    /** The report's, whatever was asked to be run now. */
    private List<Cell> everyCell(Workloads workloads) throws IOException {
        launchers = EnumSet.allOf(Launcher.class);
        transports = EnumSet.allOf(UcxTransport.class);
        return cells(suite(workloads));
    }

    /** What rates itself is for {@code udckpt bench run}: its times are its result. */
    private static List<Workload> suite(Workloads workloads) throws IOException {
        return workloads.suite().stream().filter(workload -> workload.figure().isEmpty()).toList();
    }
}
