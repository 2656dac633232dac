package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A job with a debugger in it: a checkpoint is refused, or {@code --detach-debuggers} takes the debugger off, and the
 * program goes on, also after a restart.
 */
@Timeout(300)
class DetachDebuggersTest {
    @TempDir
    Path directory;

    @Test
    void stracesProgramGoesOnWithoutIt() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/strace")), "no strace");
        goesOn("strace", "sh", "strace", "-qq", "-o", file("trace"), "/bin/sh", "-c", "echo ready; while [ ! -e "
                + file("finish") + " ]; do sleep 0.1; done; echo program ended with 0");
    }

    /** At its prompt: a program that runs in it has gdb's breakpoints. */
    @Tag("slow")
    @Test
    void gdbsProgramGoesOnWithoutIt() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gdb")), "no gdb");
        Path script = Files.write(directory.resolve("script"), List.of("set confirm off", "break access", "continue",
                "shell echo ready; touch " + file("stopped") + "; while [ ! -e " + file("finish")
                        + " ]; do sleep 0.1; done",
                "detach", "quit"));
        goesOn("gdb", "anatomy", "/bin/sh", "-c",
                Udckpts.program("anatomy") + " " + file("finish") + " & pid=$!; gdb -nx -batch -p "
                        + "$pid -x " + script + "; wait $pid; echo program ended with $?");
    }

    private void goesOn(String debugger, String program, String... command) throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            List<String> words = new ArrayList<>(List.of("run", "--name", "first", "--dir", file("images"),
                    "--"));
            words.addAll(List.of(command));
            Udckpts.Running job = udckpts.start(words.toArray(String[]::new));
            job.awaitOutput("ready");
            if (debugger.equals("gdb")) {
                job.await(() -> Files.exists(directory.resolve("stopped")));
            }
            Udckpts.Result refused = retried(udckpts, "checkpoint", "first");
            assertEquals(75, refused.code(), refused.toString());
            assertTrue(refused.errors().matches("(?s).*is traced by process \\d+ \\(" + debugger
                    + "\\).*--detach-debuggers.*the job goes on.*"), refused.toString());
            Udckpts.Result taken = udckpts.run("checkpoint", "first", "--detach-debuggers", "--then", "kill");
            assertEquals(0, taken.code(), () -> taken + "\n" + job.text());
            assertTrue(taken.errors().matches("(?s).*process \\d+ \\(" + debugger
                    + "\\) was detached from process \\d+ \\(" + program + "\\).*"), taken.toString());
            job.await(30);
            Udckpts.Running second = udckpts.start("restart", file("images"), "--name", "second");
            second.await(() -> retried(udckpts, "status", "second").code() == 0);
            assertEquals(0, udckpts.run("checkpoint", "second").code(), second::text);
            Files.createFile(directory.resolve("finish"));
            Udckpts.Result end = second.await(60);
            assertEquals(0, end.code(), end.toString());
            assertTrue(end.output().contains("program ended with 0"), end.toString());
        }
    }

    /** A job's command socket is there a little after its first words. */
    private static Udckpts.Result retried(Udckpts udckpts, String... command) throws Exception {
        Udckpts.Result result = udckpts.run(command);
        for (int i = 0; i < 20 && result.code() == 66; i++) {
            result = udckpts.run(command);
        }
        return result;
    }

    private String file(String name) {
        return directory.resolve(name).toString();
    }
}
