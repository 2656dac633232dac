package org.udckpt.system;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The processes of a job, ranks and snapshots alike, as /proc shows them: those whose environment names its runtime
 * directory.
 */
final class RankProcesses {
    private RankProcesses() {}

    static List<Long> of(Path runtimeDirectory) throws IOException {
        String mark = "UDCKPT_RUNTIME_DIR=" + runtimeDirectory + "\0";
        try (Stream<Path> entries = Files.list(Path.of("/proc"))) {
            return entries.filter(p -> p.getFileName().toString().matches("\\d+"))
                    .filter(p -> environment(p).contains(mark))
                    .map(p -> Long.parseLong(p.getFileName().toString())).sorted().toList();
        }
    }

    private static String environment(Path process) {
        try {
            return new String(Files.readAllBytes(process.resolve("environ")), StandardCharsets.ISO_8859_1);
        } catch (IOException ended) {
            return ""; // between the listing and the reading: not one of those that live
        }
    }

    /** State letters of all its threads (proc(5)): T and t are stopped ones. */
    static String states(long pid) {
        StringBuilder states = new StringBuilder();
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid + "/task"))) {
            for (Path thread : threads.toList()) {
                String stat = Files.readString(thread.resolve("stat"));
                states.append(stat.charAt(stat.lastIndexOf(')') + 2));
            }
        } catch (IOException | UncheckedIOException ended) {
            states.append('X');
        }
        return states.toString();
    }

    /** The most that a failing test may leave behind: nothing. */
    static void kill(Path runtimeDirectory) throws IOException {
        for (long pid : of(runtimeDirectory)) {
            ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
        }
    }
}
