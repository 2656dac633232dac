package org.udckpt.process.feature;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One program of process-image/src/test/c and what a checkpoint of it must come to.
 *
 * @param refusal a word that the refusal must contain, or null: a checkpoint of this program must succeed
 * @param mayRestore the checkpoint may also succeed; then the program must be right after a restore
 * @param second it is the second one of the same incarnation: the first leaves no trace
 */
record Feature(String name, String refusal, boolean mayRestore, boolean second) {
    /** Whether this kernel has it: landlock_create_ruleset(2), LANDLOCK_CREATE_RULESET_VERSION. */
    private static final boolean LANDLOCK = org.udckpt.linux.Syscall.call(444, 0, 0, 1) > 0;

    /** They wait, for a connection's TIME_WAIT as an ordinary user, while others run: they begin. */
    private static final Set<String> WAITS = Set.of("tcp_gone_names");

    private Feature(String name, String refusal, boolean mayRestore) {
        this(name, refusal, mayRestore, true);
    }

    private static Feature of(String name) {
        return switch (name) {
            case "userfaultfd" -> new Feature(name, "userfaultfd", false);
            case "landlock" -> new Feature(name, "landlock", !LANDLOCK);
            case "seccomp" -> new Feature(name, "seccomp", true); // an ordinary user's
            case "tcp_errors", "udp_unsent" -> new Feature(name, "which only root can read", true);
            case "unix_waiting_messages" -> new Feature(name, "which only root can checkpoint", true);
            case "signalfd" -> new Feature(name, "signalfd", true);
            case "file_locks" -> new Feature(name, "lock", true);
            // empty messages: docs/internals/kinds.md
            case "udp", "udp_group", "named_sockets" -> new Feature(name, null, true, false);
            default -> new Feature(name, null, true);
        };
    }

    /** How many descriptors a process that restores it may have; 0: as many as this one. */
    int descriptors() {
        return name.equals("full_descriptors") ? 320 : 0;
    }

    /** All that were built, or those that -Dudckpt.features=a,b names. */
    static List<Feature> all(Path programs) throws IOException {
        String chosen = System.getProperty("udckpt.features", "");
        List<String> names = chosen.isEmpty() ? List.of() : List.of(chosen.split(","));
        try (Stream<Path> files = Files.list(programs)) {
            List<Feature> found = files.map(f -> f.getFileName().toString())
                    .filter(n -> names.isEmpty() || names.contains(n))
                    .sorted(Comparator.comparing((String name) -> !WAITS.contains(name))
                            .thenComparing(Comparator.naturalOrder()))
                    .map(Feature::of).toList();
            if (found.isEmpty()) {
                throw new IllegalStateException(
                        "no feature program in " + programs + (names.isEmpty() ? "" : " is called " + chosen));
            }
            return found;
        }
    }
}
