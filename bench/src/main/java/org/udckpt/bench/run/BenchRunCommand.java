package org.udckpt.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.udckpt.bench.job.Cell;
import org.udckpt.bench.job.Launcher;
import org.udckpt.bench.job.Programs;
import org.udckpt.bench.job.UcxTransport;
import org.udckpt.bench.measured.Row;
import org.udckpt.bench.model.Quantity;
import org.udckpt.bench.workload.WorkloadError;
import org.udckpt.bench.workload.Workloads;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code udckpt bench run}. */
@Command(name = "run", mixinStandardHelpOptions = true, sortOptions = false, showDefaultValues = true,
        description = "Runs applications as they are, with the library, with checkpoints, and from a checkpoint, as "
                + "pairs in one run, and keeps what it measures.")
public final class BenchRunCommand implements Callable<Integer> {
    static final int NOT_RIGHT = 1;
    /** Beside --resume. */
    private static final Set<String> MAY_CHANGE = Set.of("--resume", "--path", "--limit");
    private static final double USUAL_INTERVAL = 5; // seconds: most of the default suite run for 7 to 12

    @Parameters(paramLabel = "WORKLOAD",
            description = "NAME or NAME:PARAMETER of bench/workloads, such as stencil or npb:cg.A; default: all for "
                    + "which nobody has to bring a program")
    private List<String> names = List.of();
    @Option(names = "--ranks", split = ",", paramLabel = "N", description = "default: as each description says")
    private List<Integer> ranks = List.of();
    @Option(names = "--repeat", paramLabel = "N", defaultValue = "3", description = "times that each is measured")
    private int repeats;
    @Option(names = "--warm-up", paramLabel = "N", defaultValue = "1",
            description = "runs of each before, of which nothing is kept")
    private int warmUps;
    @Option(names = "--transport", split = ",", paramLabel = "ud|rc", defaultValue = "ud",
            description = "what messages go over")
    private List<UcxTransport> transports;
    @Option(names = "--launcher", split = ",", paramLabel = "run|mpiexec|mpirun",
            description = "default: run (MPICH), or mpirun (Open MPI) where there is no build for MPICH")
    private List<Launcher> launchers = List.of();
    @Option(names = "--interval", split = ",", paramLabel = "TIME", converter = Quantity.Time.class,
            description = "with a checkpoint each TIME; default: 5s, none with --quick")
    private List<Double> intervals;
    @Option(names = "--mode", split = ",", paramLabel = "preloaded|every|restarted",
            description = "what is compared with native; default: all")
    private Set<Way> ways = EnumSet.allOf(Way.class);
    @Option(names = "--device", paramLabel = "NAME",
            description = "a verbs device of this machine; default: the soft fabric")
    private String device;
    @Option(names = "--path", paramLabel = "[VARIABLE=]PATH",
            description = "where a program or input is that you bring; the variable of the environment does the same")
    private List<String> paths = List.of();
    @Option(names = "--peer", paramLabel = "dmtcp",
            description = "measure the same under DMTCP (over TCP), where dmtcp_launch is in PATH")
    private Peer peer;
    @Option(names = "--quick",
            description = "each once, without warm-up and, if none is named, without what takes long: that it works, "
                    + "more than how well")
    private boolean quick;
    @Option(names = "--seed", paramLabel = "S", description = "of the order; default: another each time, and printed")
    private Long seed;
    @Option(names = "--limit", paramLabel = "TIME", defaultValue = "15m", converter = Quantity.Time.class,
            description = "after which a run counts as hanging")
    private double limit;
    @Option(names = "--out", paramLabel = "DIR", description = "default: a new directory in target/bench")
    private Path out;
    @Option(names = "--resume", paramLabel = "DIR",
            description = "go on with a run that was interrupted, with its options; --path and --limit may be given "
                    + "anew")
    private Path resume;
    @Option(names = "--list",
            description = "say what the workloads are (those that are named, or all), what they need and where to get "
                    + "it; runs nothing")
    private boolean list;
    @Spec
    private CommandSpec spec;

    private enum Peer {
        DMTCP
    }

    private enum Way {
        PRELOADED, EVERY, RESTARTED
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        try {
            if (list) {
                RunRequest wanted = new RunRequest(names, false, launchers, transports, ranks);
                wanted.describe(Workloads.of(root(), wanted.places(paths, Workloads.of(root()))))
                        .forEach(System.out::println);
                return ExitCode.DONE.value();
            }
            if (resume != null) {
                RunDirectory directory = RunDirectory.resume(resume.toAbsolutePath().normalize());
                BenchRunCommand begun = parsed(directory.arguments());
                begun.goOnWith(this);
                directory.add(MachineFacts.resumed(root()));
                return begun.measure(directory);
            }
            if (seed == null) {
                seed = System.nanoTime() & 0xffff_ffffL;
            }
            plan(); // what cannot be run is said before anything is made
            List<String> all = spec.commandLine().getParseResult().originalArgs();
            List<String> arguments = new ArrayList<>(all.subList(1, all.size())); // the first is 'run'
            arguments.addAll(seedGiven(arguments) ? List.of() : List.of("--seed", seed.toString()));
            Path directory = out != null ? out.toAbsolutePath().normalize()
                    : root().resolve("target/bench/"
                            + DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").format(LocalDateTime.now()));
            Files.createDirectories(directory);
            List<Row> facts = MachineFacts.of(root(), directory, Optional.ofNullable(device),
                    "udckpt bench run " + String.join(" ", arguments));
            return measure(RunDirectory.create(directory, arguments, facts));
        } catch (WorkloadError wrong) {
            throw new Failure(ExitCode.USAGE, wrong.getMessage(), wrong);
        }
    }

    /** What may be otherwise on another day; all else is as the run was begun. */
    private void goOnWith(BenchRunCommand now) {
        Set<String> given = now.spec.commandLine().getParseResult().matchedOptions().stream()
                .map(OptionSpec::longestName).collect(Collectors.toCollection(TreeSet::new));
        given.removeAll(MAY_CHANGE);
        if (!given.isEmpty() || !now.names.isEmpty()) {
            throw new Failure(ExitCode.USAGE,
                    "--resume goes on with what the run was begun with; "
                            + String.join(", ", given.isEmpty() ? now.names : given)
                            + " cannot be changed: leave it out, or begin another run");
        }
        limit = now.spec.commandLine().getParseResult().hasMatchedOption("--limit") ? now.limit : limit;
        Set<String> replaced = now.paths.stream().map(BenchRunCommand::variable).collect(Collectors.toSet());
        paths = Stream.concat(paths.stream().filter(path -> !replaced.contains(variable(path))), now.paths.stream())
                .toList();
    }

    /** Empty: the only one that is needed. */
    private static String variable(String path) {
        return path.substring(0, Math.max(0, path.indexOf('=')));
    }

    private static boolean seedGiven(List<String> arguments) {
        return arguments.stream().anyMatch(word -> word.equals("--seed") || word.startsWith("--seed="));
    }

    private static BenchRunCommand parsed(List<String> arguments) {
        BenchRunCommand command = new BenchRunCommand();
        new CommandLine(command).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(arguments.toArray(String[]::new));
        return command;
    }

    private int measure(RunDirectory directory) throws IOException, InterruptedException {
        Plan plan = plan();
        Messages.info("seed " + seed + "; results in " + directory.work().getParent());
        return new Session(plan, directory, root(), Duration.ofMillis(Math.round(limit * 1000)),
                Optional.ofNullable(device)).run() ? ExitCode.DONE.value() : NOT_RIGHT;
    }

    private Plan plan() throws IOException {
        return new Plan(cells(), modes(), quick ? 0 : warmUps, quick ? 1 : repeats, seed);
    }

    private List<Cell> cells() throws IOException {
        if (repeats < 1 || warmUps < 0) {
            throw new Failure(ExitCode.USAGE, "--repeat is at least 1 and --warm-up at least 0");
        }
        RunRequest wanted = new RunRequest(names, quick, launchers, transports, ranks);
        Map<String, String> places = wanted.places(paths, Workloads.of(root()));
        List<Cell> cells = wanted.cells(Workloads.of(root(), places));
        if (peer != null && cells.stream().anyMatch(cell -> cell.launcher() == Launcher.RUN)
                && !Launcher.MPIEXEC.isThere()) {
            throw new Failure(ExitCode.NOT_FOUND,
                    "--peer dmtcp: ranks are started by mpiexec.hydra there; as root: apt-get install "
                            + "--no-install-recommends "
                            + Launcher.MPIEXEC.debianPackage());
        }
        return cells;
    }

    private List<Mode> modes() {
        List<Mode> modes = new ArrayList<>(List.of(new Mode.Native()));
        if (ways.contains(Way.PRELOADED)) {
            modes.add(new Mode.Preloaded());
        }
        if (intervals != null && !ways.contains(Way.EVERY)) {
            throw new Failure(ExitCode.USAGE, "--interval is of the mode 'every', which --mode leaves out");
        }
        List<Double> every = !ways.contains(Way.EVERY) ? List.of()
                : intervals != null ? intervals : quick ? List.of() : List.of(USUAL_INTERVAL);
        List<Duration> times = every.stream().map(seconds -> Duration.ofMillis(Math.round(seconds * 1000))).toList();
        times.forEach(time -> modes.add(new Mode.Every(time)));
        if (ways.contains(Way.RESTARTED)) {
            modes.add(new Mode.Restarted());
        }
        if (modes.size() == 1 && peer == null) {
            throw new Failure(ExitCode.USAGE,
                    "nothing would be compared with native: --quick has no interval of its own, give --interval, or "
                            + "other modes");
        }
        if (peer != null) {
            if (!Programs.isThere(Dmtcp.PROGRAM)) {
                throw new Failure(ExitCode.NOT_FOUND,
                        "--peer dmtcp: there is no " + Dmtcp.PROGRAM + " in PATH; " + Dmtcp.ADVICE);
            }
            if (times.stream().anyMatch(time -> time.toMillis() % 1000 != 0)) {
                throw new Failure(ExitCode.USAGE,
                        "--peer dmtcp: DMTCP counts whole seconds; give --interval such as 1s");
            }
            modes.add(new Mode.PeerNative());
            modes.add(new Mode.Peer(Duration.ZERO));
            times.forEach(time -> modes.add(new Mode.Peer(time)));
            if (ways.contains(Way.RESTARTED)) {
                modes.add(new Mode.PeerRestarted());
            }
        }
        return modes;
    }

    /** The root of the sources; not needed to describe a command, so it is read late. */
    private static Path root() {
        return Path.of(System.getProperty("udckpt.root"));
    }
}
