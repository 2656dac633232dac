package org.udckpt.bench.workload;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** All descriptions of {@code bench/workloads}, in the order of their names. */
public final class Workloads {
    private final Path directory;
    private final Path programs;

    /**
     * @param directory that holds one directory for each application
     * @param programs where this repository's own MPI programs are, <code>{programs}</code> in a command
     */
    public Workloads(Path directory, Path programs) {
        this.directory = directory;
        this.programs = programs;
    }

    /** Those of a clone. */
    public static Workloads of(Path root) {
        return new Workloads(root.resolve("bench/workloads"), root.resolve("native/target/cmake/programs"));
    }

    public List<String> names() throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return all.filter(one -> Files.exists(one.resolve(WorkloadFile.NAME))).map(one -> one.getFileName().toString()).sorted().toList();
        }
    }

    /**
     * @param wanted names, or none for all
     * @throws WorkloadError for a name that is not there and for a description that is not right
     */
    public List<Workload> named(List<String> wanted) throws IOException {
        List<String> known = names();
        List<Workload> workloads = new ArrayList<>();
        for (String name : wanted.isEmpty() ? known : wanted) {
            if (!known.contains(name)) {
                throw new WorkloadError("no application '" + name + "' in " + directory + "; there are " + String.join(", ", known));
            }
            workloads.add(WorkloadFile.read(directory.resolve(name), programs));
        }
        return workloads;
    }
}
