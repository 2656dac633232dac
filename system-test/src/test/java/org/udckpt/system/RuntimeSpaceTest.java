package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A runtime directory that the user has named, in a place that is full or read-only: said by name, with what to do, and
 * nothing is left.
 */
@Timeout(120)
class RuntimeSpaceTest {
    private static final int NO_SPACE = 73, IO = 74;

    private Path directory;
    private CommandLine commands;

    @BeforeEach
    void directories() throws Exception {
        directory = Files.createTempDirectory("udckpt-r");
        commands = new CommandLine(directory);
        Files.createDirectory(commands.runtime());
    }

    @AfterEach
    void remove() throws Exception {
        command("umount", commands.runtime().toString());
        command("rm", "-rf", directory.toString());
    }

    @Test
    void aFullPlace() throws Exception {
        mount("size=2m");
        refused(NO_SPACE, "which has no room for it (No space left on device): make room in",
                commands.runtime().toString(),
                "UDCKPT_RUNTIME");
    }

    @Test
    void aReadOnlyPlace() throws Exception {
        mount("ro");
        refused(IO, "making the runtime directory " + commands.runtime(), "read-only");
    }

    private void refused(int code, String... words) throws Exception {
        assertEquals(code, commands.run("job", 60, "run", "-n", "1", "--name", "job", "--", "/bin/true"), () -> text());
        for (String word : words) {
            assertTrue(text().contains(word), word + " is not in: " + text());
        }
        try (var left = Files.list(commands.runtime())) {
            assertEquals(0, left.count());
        }
    }

    private void mount(String options) throws Exception {
        assumeTrue(command("mount", "-t", "tmpfs", "-o", "mode=700," + options, "udckpt-test",
                commands.runtime().toString()) == 0, "mounting a tmpfs is not permitted here");
    }

    private static int command(String... command) throws Exception {
        return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start().waitFor();
    }

    private String text() {
        try {
            return commands.printed("job");
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }
}
