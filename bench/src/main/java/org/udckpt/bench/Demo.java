package org.udckpt.bench;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.workload.Build;
import org.udckpt.bench.workload.Mpi;
import org.udckpt.bench.workload.Tolerance;
import org.udckpt.bench.workload.Workload;
import org.udckpt.bench.workload.Workloads;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code udckpt demo}: shows the main job end to end, and fails when the answers are not equal. */
@CommandLine.Command(name = "udckpt demo", mixinStandardHelpOptions = true,
        description = "Runs a real MPI job over UD twice: through, and with checkpoint, kill and restart; compares "
                + "the answers.")
public final class Demo implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int USAGE = 64;
    /** What a demonstration leaves in its directory; nothing else there is touched. */
    private static final List<String> OWN = List.of("uninterrupted", "interrupted", "images", "images-through");

    enum Subject {
        solve, nwchem
    }

    @Parameters(arity = "0..1", defaultValue = "solve",
            description = "solve (our stencil_cg) or nwchem (Debian's nwchem-mpich)")
    private Subject subject;

    @Option(names = "-n", description = "ranks; default 4 for solve, 2 for nwchem")
    private Integer ranks;

    @Option(names = "--work",
            description = "where runs and images go; those of an earlier demonstration are removed (default: "
                    + "bench/work/demo)")
    private Path work;

    @Option(names = "--ballast", defaultValue = "64",
            description = "solve: MiB of memory that each rank carries (default 64)")
    private int ballast;

    @Option(names = "--solves", defaultValue = "1000",
            description = "solve: how many solves of 50 iterations (default 1000)")
    private int solves;

    /**
     * {@code Demo [solve|nwchem] [-n RANKS]}; exits with 1 when the demonstration fails, 64 for a wrong command line.
     */
    public static void main(String[] arguments) {
        CommandLine line = new CommandLine(new Demo()).setCaseInsensitiveEnumValuesAllowed(true);
        line.setExecutionExceptionHandler((exception, command, parsed) -> {
            System.err.println("udckpt: the demonstration failed: " + exception);
            return FAILED;
        });
        line.setParameterExceptionHandler((exception, parsed) -> {
            System.err.println("udckpt: " + exception.getMessage() + "; see 'udckpt demo --help'");
            return USAGE;
        });
        System.exit(line.execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path root = Path.of(System.getProperty("udckpt.root"));
        Path directory = work == null ? root.resolve("bench/work/demo") : work.toAbsolutePath();
        int count = ranks != null ? ranks : subject == Subject.solve ? 4 : 2;
        try {
            prepare(directory);
            Application application = switch (subject) {
                case solve -> solve(root);
                case nwchem -> nwchem(root);
            };
            new DemoRun(root, directory, count, application, System.out).show();
            return 0;
        } catch (BenchFailure e) {
            System.err.println("udckpt: the demonstration failed: " + e.getMessage());
            return FAILED;
        }
    }

    private Application solve(Path root) {
        String program = root.resolve("native/target/cmake/programs/stencil_cg").toString();
        List<String> command = List.of(program, "--grid", "16", "--solves", Integer.toString(solves), "--ballast",
                Integer.toString(ballast));
        return new Application("stencil_cg", command, Map.of(),
                line -> line.startsWith("solve ") && line.contains(" iteration 50 "), Math.max(1, solves / 10),
                line -> line.startsWith("solve ") || line.startsWith("checksum "), Tolerance.NONE);
    }

    /** The one of bench/workloads; its input is read where it is. */
    private static Application nwchem(Path root) throws IOException {
        Workload workload = Workloads.of(root).named(List.of("nwchem")).getFirst();
        Build build = workload.builds().get(Mpi.MPICH);
        List<String> command = build.command().stream()
                .map(word -> workload.inputs().contains(word) ? workload.directory().resolve(word).toString() : word)
                .toList();
        return new Application(workload.name(), command, build.environment(),
                // an iteration of the self-consistent field
                line -> line.matches("\\s+\\d+\\s+-\\d+\\.\\d+\\s+\\S+\\s+\\S+\\s+\\d+\\.\\d+"), 2,
                workload.answer().lines().orElseThrow().asMatchPredicate(), workload.answer().tolerance());
    }

    private static void prepare(Path directory) throws IOException {
        for (String name : OWN) {
            Path old = directory.resolve(name);
            if (Files.exists(old)) {
                try (Stream<Path> all = Files.walk(old)) {
                    all.sorted(Comparator.reverseOrder()).forEach(Demo::delete);
                }
            }
        }
        try {
            Files.createDirectories(directory);
            if (!Files.isWritable(directory)) {
                throw new AccessDeniedException(directory.toString());
            }
        } catch (FileSystemException e) {
            throw new BenchFailure(directory + " can not be written (" + e + "); choose another directory with --work");
        }
    }

    private static void delete(Path path) {
        try {
            Files.delete(path);
        } catch (IOException e) {
            throw new BenchFailure(
                    "an earlier run can not be removed (" + e + "); choose another directory with --work");
        }
    }
}
