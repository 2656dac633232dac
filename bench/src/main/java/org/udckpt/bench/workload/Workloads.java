package org.udckpt.bench.workload;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** All descriptions of {@code bench/workloads}, in the order of their names. */
public final class Workloads {
    private final Path directory;
    private final Substitutions given;

    /** @param directory that holds one directory for each application */
    public Workloads(Path directory, Substitutions given) {
        this.directory = directory;
        this.given = given;
    }

    /** The workloads of a clone, with the environment's variables for programs that the user brings. */
    public static Workloads of(Path root) {
        return of(root, System.getenv());
    }

    /** @param places of what the user brings, by the names of variables of the environment */
    public static Workloads of(Path root, Map<String, String> places) {
        return new Workloads(root.resolve("bench/workloads"),
                new Substitutions(root.resolve("native/target/cmake/programs"), places));
    }

    /** Without parameters. */
    public List<String> names() throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return all.filter(one -> Files.exists(one.resolve(WorkloadFile.NAME)))
                    .map(one -> one.getFileName().toString()).sorted().toList();
        }
    }

    /** Workloads for which the user has to bring nothing: of Debian or of this repository. */
    public List<Workload> suite() throws IOException {
        return named(names()).stream().filter(one -> one.supply().brought().isEmpty()).toList();
    }

    /**
     * @param wanted NAME or NAME:PARAMETER
     * @throws WorkloadError for a name that is not there and for a description that is not right
     */
    public List<Workload> named(List<String> wanted) throws IOException {
        List<String> known = names();
        List<Workload> workloads = new ArrayList<>();
        for (String one : wanted) {
            int colon = one.indexOf(':');
            String name = colon < 0 ? one : one.substring(0, colon);
            if (!known.contains(name)) {
                throw new WorkloadError(
                        "no application '" + name + "' in " + directory + "; there are " + String.join(", ", known));
            }
            workloads.add(WorkloadFile.read(directory.resolve(name), colon < 0 ? "" : one.substring(colon + 1), given));
        }
        return workloads;
    }
}
