package org.udckpt.bench.job;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.udckpt.bench.workload.Build;
import org.udckpt.bench.workload.Mpi;

/**
 * Starts the ranks: udckpt itself, or the MPI library's own launcher, which is inside of the job with all its
 * processes.
 */
public enum Launcher {
    RUN(Mpi.MPICH, "udckpt", "libmpich12"),
    MPIEXEC(Mpi.MPICH, "mpiexec.hydra", "mpich"),
    MPIRUN(Mpi.OPENMPI, "mpirun.openmpi", "openmpi-bin");

    /** What Open MPI's mpirun is told of its components (--mca), in this order. */
    private static final Map<String, String> OPEN_MPI = new LinkedHashMap<>();

    static {
        OPEN_MPI.put("pml", "ucx");
        OPEN_MPI.put("osc", "sm,ucx");
        OPEN_MPI.put("pml_ucx_tls", "any");
        OPEN_MPI.put("pml_ucx_devices", "any");
        OPEN_MPI.put("btl", "^tcp"); // its listener has a port that another job may have at the restart
    }

    private final Mpi mpi;
    private final String program;
    private final String debianPackage;

    Launcher(Mpi mpi, String program, String debianPackage) {
        this.mpi = mpi;
        this.program = program;
        this.debianPackage = debianPackage;
    }

    public Mpi mpi() {
        return mpi;
    }

    /** That the applications' packages only recommend. */
    public String debianPackage() {
        return debianPackage;
    }

    /** Whether the program that starts the ranks is there. */
    public boolean isThere() {
        return this == RUN || Programs.isThere(program);
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** For reports. */
    public String title() {
        return switch (this) {
            case RUN -> "MPICH, `udckpt run -n`";
            case MPIEXEC -> "MPICH, `" + program + "`";
            case MPIRUN -> "Open MPI, `" + program + "`";
        };
    }

    /**
     * Options of {@code udckpt run}, and of a restart: two simulated hosts, called after the incarnation, where udckpt
     * knows its ranks.
     */
    public List<String> hosts(int incarnation, int ranks) {
        return switch (this) {
            case RUN -> List.of("--hosts", ranks == 1 ? "a" + incarnation + ":1"
                    : "a%d:%d,b%d:%d".formatted(incarnation, ranks - ranks / 2, incarnation, ranks / 2));
            case MPIEXEC, MPIRUN -> List.of();
        };
    }

    /** The words after {@code udckpt run}, but for the job's name and directory. */
    public List<String> words(Build build, int ranks, Path session) {
        var words = new ArrayList<String>();
        if (this == RUN) {
            words.addAll(List.of("-n", Integer.toString(ranks)));
            words.addAll(hosts(1, ranks));
            words.add("--");
            words.addAll(command(build, ranks));
        } else {
            words.add("--");
            words.addAll(bare(build, ranks, session));
        }
        return words;
    }

    /** The words of the MPI library's own launcher and what it starts: without udckpt. */
    public List<String> bare(Build build, int ranks, Path session) {
        var words = new ArrayList<String>();
        switch (this) {
            case RUN, MPIEXEC -> words.addAll(List.of(MPIEXEC.program, "-n", Integer.toString(ranks)));
            case MPIRUN -> {
                words.addAll(List.of(program, "--oversubscribe", "-n", Integer.toString(ranks)));
                OPEN_MPI.forEach((name, value) -> {
                    if (!build.launcherOptions().contains(name)) { // mpirun takes none twice
                        words.addAll(List.of("--mca", name, value));
                    }
                });
                if (System.getProperty("user.name").equals("root")) {
                    words.add("--allow-run-as-root");
                }
                // a killed mpirun leaves its session directory
                words.addAll(List.of("--mca", "orte_tmpdir_base", session.toString()));
                words.addAll(build.launcherOptions());
            }
        }
        words.addAll(command(build, ranks));
        return words;
    }

    private static List<String> command(Build build, int ranks) {
        return build.command().stream().map(word -> word.replace("{ranks}", Integer.toString(ranks))).toList();
    }
}
