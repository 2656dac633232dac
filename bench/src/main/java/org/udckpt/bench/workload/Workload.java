package org.udckpt.bench.workload;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An application with its input, as {@code bench/workloads/NAME/workload} describes it.
 *
 * @param directory in which the description and its inputs are
 * @param name of that directory, and behind a colon the parameter if one was named
 * @param title one line that says what is computed
 * @param isLong a quick look at many applications does without it
 * @param ranks how many ranks it is run with when nobody says how many
 * @param allowedRanks how many it can be run with
 * @param transports over which it is run, of "ud" and "rc"
 * @param inputs files of {@code directory} that a run finds in its working directory
 * @param preparations commands to be run there, one after the other, before the application
 * @param builds at least one
 * @param answer what its result is
 * @param figure by which it rates itself; empty: its time says it
 * @param supply what the user has to bring
 * @param known what it is known for without any checkpointer
 */
public record Workload(
        Path directory, String name, String title, boolean isLong, int ranks, AllowedRanks allowedRanks,
        List<String> transports, List<String> inputs, List<List<String>> preparations,
        Map<Mpi, Build> builds, Answer answer, Optional<Figure> figure, Supply supply, List<String> known) {

    /**
     * What the user has to bring.
     *
     * @param brought all of it
     * @param writesBeside words of those in whose directory the application writes, too
     * @param advice where to get it, how to build it and what to set, in lines
     */
    public record Supply(List<UserProgram> brought, List<String> writesBeside, List<String> advice) {
        /** What nobody has said the place of. */
        public List<UserProgram> missing() {
            return brought.stream().filter(one -> one.place().isEmpty()).toList();
        }

        /** Directories in which the application writes beside its working directory. */
        public List<Path> writtenDirectories() {
            return brought.stream().filter(one -> writesBeside.contains(one.word()))
                    .flatMap(one -> one.place().stream()).map(place -> Path.of(place).toAbsolutePath().getParent())
                    .toList();
        }

        /** A command without the paths of this machine: each place as its variable. */
        public String withoutPlaces(String command) {
            String text = command;
            for (UserProgram one : brought) {
                text = one.place().isPresent() ? text.replace(one.place().get(), "$" + one.variable()) : text;
            }
            return text;
        }
    }

    /** The name, as part of a file's or a job's. */
    public String fileName() {
        return name.replaceAll("[^A-Za-z0-9._-]", "-");
    }

    /** Puts the inputs into {@code run}, which is to be a run's working directory. */
    public void provide(Path run) throws IOException {
        for (String input : inputs) {
            Files.copy(directory.resolve(input), run.resolve(input));
        }
    }
}
