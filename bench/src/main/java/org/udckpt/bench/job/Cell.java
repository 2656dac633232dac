package org.udckpt.bench.job;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.udckpt.bench.workload.Build;
import org.udckpt.bench.workload.Mpi;
import org.udckpt.bench.workload.UserProgram;
import org.udckpt.bench.workload.Workload;

/** One combination to be run: an application, its launcher and its transport. */
public record Cell(Workload workload, Launcher launcher, UcxTransport transport, int ranks) {

    /** Unique for a number of ranks, and the name of a file. */
    public String id() {
        return workload.fileName() + "-" + launcher.word() + "-" + transport.word();
    }

    public Build build() {
        return workload.builds().get(launcher.mpi());
    }

    /** Debian's, in order. */
    public SortedSet<String> packages() {
        SortedSet<String> packages = new TreeSet<>(build().packages());
        packages.add(launcher.debianPackage());
        return packages;
    }

    /** Whether all programs are there that it needs. */
    public boolean isInstalled() {
        return workload.supply().missing().isEmpty() && absent().isEmpty() && launcher.isThere()
                && Programs.isThere(program());
    }

    /** What the user has brought to a place where nothing is. */
    private Optional<UserProgram> absent() {
        return workload.supply().brought().stream().filter(
                one -> one.place().filter(place -> place.contains("/") && !Files.exists(Path.of(place))).isPresent())
                .findFirst();
    }

    /** The missing program or package, and what to do about it. */
    public String remedy() {
        String name = workload.name() + ": ";
        List<UserProgram> brought = workload.supply().brought();
        if (!brought.isEmpty() && launcher.isThere()) {
            String which = absent().isPresent() ? absent().get().place().orElseThrow() + " is not there; check "
                    : workload.supply().missing().isEmpty() ? program() + " is not there, or not a program; check "
                            : "nothing says where its " + words(workload.supply().missing(), UserProgram::word)
                                    + " is; set ";
            return name + which + words(brought, UserProgram::variable) + ", or give --path "
                    + brought.getFirst().variable() + "=...\n  "
                    + String.join("\n  ", workload.supply().advice());
        }
        return name + program() + " or its launcher is not there; " + (build().packages().isEmpty() && brought.isEmpty()
                ? "it is made by the build, where there is "
                        + (launcher.mpi() == Mpi.MPICH ? "libmpich-dev" : "libopenmpi-dev")
                : "as root: apt-get install --no-install-recommends " + String.join(" ", packages()));
    }

    private static String words(List<UserProgram> brought, Function<UserProgram, String> word) {
        return brought.stream().map(word).collect(Collectors.joining(" and "));
    }

    private String program() {
        return build().command().getFirst();
    }

    public Map<String, String> environment() {
        Map<String, String> environment = new LinkedHashMap<>(build().environment());
        environment.put("UCX_TLS", transport.ucx());
        return environment;
    }

    /** The arguments of {@code udckpt run}, without the job's name and directory. */
    public List<String> words(Path session) {
        return launcher.words(build(), ranks, session);
    }
}
