package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code restart --env}: a restored program, and what it starts, find other environment variables. */
@Timeout(240)
class NewEnvironmentTest {
    private static final int TIMEOUT_S = 60;
    private final Path directory;
    private final CommandLine commands;

    NewEnvironmentTest() throws IOException {
        directory = Files.createTempDirectory("udckpt-j").toRealPath();
        commands = new CommandLine(directory);
    }

    @Tag("slow")
    @Test
    void aProgramThatAsksAgainFindsWhatTheRestartSays() throws Exception {
        Path answer = directory.resolve("answer");
        Process run = commands.start("first", "run", "--name", "job", "--dir", "images", "--", "env", "-u", "SHAPE",
                "COLOUR=red", "KEPT=yes",
                CommandLine.artifact("programs/ask_environment").toString(), answer.toString(),
                directory.resolve("finish").toString());
        try {
            await(answer, "red (none) yes red");
            assertEquals(0, commands.run("checkpoint", TIMEOUT_S, "checkpoint", "job", "--then", "kill"),
                    () -> text("checkpoint"));
            assertTrue(run.waitFor(TIMEOUT_S, TimeUnit.SECONDS));
            Files.delete(answer);

            run = commands.start("second", "restart", "images", "--env", "COLOUR=green", "--env",
                    "SHAPE=round and = so", "--env", "COLOUR=blue");
            await(answer, "blue round and = so yes blue");
            assertEquals(0, commands.run("again", TIMEOUT_S, "checkpoint", "job", "--then", "kill"),
                    () -> text("again"));
            assertTrue(run.waitFor(TIMEOUT_S, TimeUnit.SECONDS));
            Files.delete(answer);

            run = commands.start("third", "restart", "images", "--env", "SHAPE=");
            await(answer, "blue  yes blue"); // they are its own now
            Files.createFile(directory.resolve("finish"));
            assertTrue(run.waitFor(TIMEOUT_S, TimeUnit.SECONDS), () -> text("third"));
            assertEquals(0, run.exitValue(), () -> text("third"));
            for (String wrong : new String[]{"COLOUR", "=red", "UDCKPT_DIR=/", "LONG=" + "x".repeat(9000),
                    "TWO=lines\nof text"}) {
                assertEquals(64, commands.run("wrong", TIMEOUT_S, "restart", "images", "--env", wrong),
                        () -> text("wrong"));
            }
        } finally {
            run.destroy();
            run.waitFor();
            new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
        }
    }

    private void await(Path answer, String expected) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
        String found = "";
        while (!found.equals(expected) && System.nanoTime() < deadline) {
            Thread.sleep(20);
            found = Files.exists(answer) ? Files.readString(answer).strip() : "";
        }
        assertEquals(expected, found, text("first") + text("second") + text("third"));
    }

    private String text(String name) {
        try {
            return commands.printed(name);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
