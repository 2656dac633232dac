package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** In a container whose filter of system calls forbids kcmp(2), as the usual one does without CAP_SYS_PTRACE. */
@Timeout(120)
class ContainerRightsTest {
    private static final int SECONDS = 60;
    private static final String KCMP = "312";

    @TempDir
    Path temporary;

    @Test
    void aCheckpointSaysWhatTheContainerLacks() throws Exception {
        CommandLine commands = new CommandLine(temporary.toRealPath(),
                List.of(CommandLine.artifact("attacks/forbid_call").toString(), KCMP));
        commands.run("check", SECONDS, "check");
        assertTrue(commands.printed("check").contains("kcmp(2) is not permitted"), commands.printed("check"));
        Process run = commands.start("run", "run", "--name", "job", "--dir", temporary.resolve("images").toString(),
                "--", "sh", "-c", "sleep 600 & wait");
        try {
            for (int i = 0; i < 10 * SECONDS && !Files.exists(commands.runtime().resolve("job/command.sock")); i++) {
                assertTrue(run.isAlive(), () -> print(commands, "run"));
                Thread.sleep(100);
            }
            assertEquals(69, commands.run("checkpoint", SECONDS, "checkpoint", "job"),
                    () -> print(commands, "checkpoint"));
            assertTrue(commands.printed("checkpoint").contains("--cap-add SYS_PTRACE"), commands.printed("checkpoint"));
            assertTrue(run.isAlive(), "the job goes on");
        } finally {
            run.destroy();
            assertTrue(run.waitFor(SECONDS, TimeUnit.SECONDS), "it does not end");
        }
    }

    private static String print(CommandLine commands, String name) {
        try {
            return commands.printed(name);
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }
}
