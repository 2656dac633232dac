package org.udckpt.bench.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TranscriptTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private static Command shell(String script) throws Exception {
        return Command.start(Path.of("/"), Map.of("WORD", "from the environment"), line -> {},
                List.of("sh", "-c", script));
    }

    @Test
    void waitsForLinesWhileTheCommandRuns() throws Exception {
        try (Command command = shell("echo one; echo two; read never < /dev/zero")) {
            assertTrue(command.output().await(line -> line.length() == 3, 2, SOON));
            assertTrue(command.isRunning());
            assertFalse(command.output().await(line -> true, 3, Duration.ofMillis(50)));
        }
    }

    @Test
    void waitingEndsWithTheStream() throws Exception {
        try (Command command = shell("echo $WORD")) {
            assertFalse(command.output().await(line -> line.equals("never"), 1, SOON));
            assertEquals(List.of("from the environment"), command.awaitSuccess(SOON));
        }
    }

    @Test
    void aSlowCommandIsWaitedForWhileItTalks() throws Exception {
        try (Command command = shell("for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done")) {
            assertTrue(command.output().awaitWhileTalking(line -> line.equals("3"), 1, Duration.ofSeconds(2)));
            assertEquals(6, command.awaitSuccessWhileTalking(Duration.ofSeconds(2)).size());
        }
        try (Command command = shell("echo one; sleep 100")) {
            assertFalse(command.output().awaitWhileTalking(line -> line.equals("two"), 1, Duration.ofMillis(300)));
            String message =
                    assertThrows(BenchFailure.class, () -> command.awaitSuccessWhileTalking(Duration.ofMillis(300)))
                            .getMessage();
            assertTrue(message.startsWith("no output for"), message);
        }
        try (Command command = shell("echo one; exec >&-; sleep 1; exit 4")) {
            String message =
                    assertThrows(BenchFailure.class, () -> command.awaitSuccessWhileTalking(SOON)).getMessage();
            assertTrue(message.startsWith("exit code 4"), message);
        }
    }

    @Test
    void aFailureShowsBothStreams() throws Exception {
        try (Command command = shell("echo said; echo complained >&2; exit 3")) {
            String message = assertThrows(BenchFailure.class, () -> command.awaitSuccess(SOON)).getMessage();
            assertTrue(message.contains("exit code 3") && message.contains("said") && message.contains("complained"),
                    message);
        }
    }

    @Test
    void closingEndsDescendantsToo() throws Exception {
        Command command = shell("trap '' TERM; sleep 1000 & echo $!; wait");
        assertTrue(command.output().await(line -> true, 1, SOON));
        long child = Long.parseLong(command.output().lines().getFirst());
        command.close();
        assertFalse(command.isRunning());
        ProcessHandle.of(child).ifPresent(handle -> assertTrue(
                handle.onExit().orTimeout(20, java.util.concurrent.TimeUnit.SECONDS).join() != null));
    }
}
