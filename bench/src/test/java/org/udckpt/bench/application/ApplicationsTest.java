package org.udckpt.bench.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.bench.command.Command;

/**
 * {@code bench/applications} as a user starts it, with a program of this repository; the real ones take minutes and
 * hundreds of megabytes.
 */
@Tag("slow")
@Timeout(600)
class ApplicationsTest {
    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path results;

    private Command applications(String... arguments) throws Exception {
        Path root = Path.of(System.getProperty("udckpt.root"));
        List<String> words = new ArrayList<>(
                List.of(root.resolve("bench/applications").toString(), "--results", results.toString()));
        words.addAll(List.of(arguments));
        return Command.start(root, Map.of(), line -> {}, words);
    }

    @Test
    void killedAndRestartedTwice() throws Exception {
        try (Command command =
                applications("stencil", "--launcher", "run", "--transport", "ud", "--way", "plain,restart")) {
            int code = command.await(Duration.ofSeconds(580));
            assertEquals(0, code, command::describe);
            assertTrue(command.output().allLines().getLast()
                    .matches("stencil-run-ud, restart: \\d+ of \\d+ lines bit for bit .*"), command::describe);
        }
    }

    @Test
    void whatIsNotThereIsNamed() throws Exception {
        try (Command command = applications("stencli")) {
            assertEquals(64, command.await(Duration.ofSeconds(120)), command::describe);
            assertTrue(command.errors().allLines().getLast().contains("no application 'stencli'"), command::describe);
        }
        try (Command command = applications("stencil", "-n", "1000")) {
            assertEquals(64, command.await(Duration.ofSeconds(120)), command::describe);
            assertTrue(command.errors().allLines().getLast().contains("runs with 1-64 ranks, not with 1000"),
                    command::describe);
        }
    }
}
