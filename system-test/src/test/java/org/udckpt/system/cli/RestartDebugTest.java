package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code udckpt restart --debug}: gdb has processes from their first instruction on, the rest of the job waits, and all
 * of it goes on well.
 */
@Timeout(300)
class RestartDebugTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path directory;

    @Tag("slow")
    @Test
    void aRankAndTheJobAroundIt() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            killedAfterCheckpoint(udckpts, "step 100", "-n", "2", "--", Udckpts.program("overrun"), "0", file("log"),
                    file("finish"));
            assertHeldAndLetGo(udckpts);
            assertAPersonMayUseIt(udckpts);
            assertRefused(udckpts, 66, "has no rank 7; there are 0, 1", "--debug", "7", "--debug-script",
                    script("detach"));
            assertRefused(udckpts, 69, "nogdb is not installed", "--debug", "0", "--gdb", "nogdb");
            assertRefused(udckpts, 64, "needs --debug RANK", "--debug-script", script("detach"));
        }
    }

    /**
     * The other rank has written nothing while gdb waits at the first instruction, and stands again while gdb stops its
     * process later.
     */
    private void assertHeldAndLetGo(Udckpts udckpts) throws Exception {
        Udckpts.Running job = udckpts.start("restart", images(), "--name", "second", "--debug", "1", "--debug-script",
                script(
                        "info threads", "frame function main", "print rank", "print ranks",
                        "shell wc -c <" + file("log") + "; sleep 1; wc -c <" + file("log"),
                        "break fill", "continue", "backtrace", "print window == field.window",
                        "shell touch " + file("stopped") + "; while [ ! -e " + file("go") + " ]; do sleep 0.1; done",
                        "delete"));
        job.await(() -> Files.exists(directory.resolve("stopped")));
        Udckpts.Result refused = retried(udckpts, "checkpoint", "second");
        assertEquals(75, refused.code(), refused.toString());
        assertTrue(
                refused.errors()
                        .matches("(?s).*rank 1, process \\d+ is traced by process \\d+ \\(gdb\\).*the job goes on.*"),
                refused.toString());
        JsonNode ranks = JSON.readTree(udckpts.run("status", "second", "--json").output()).at("/jobs/0/ranks");
        String other = "/proc/" + ranks.path(0).path("pid").asText() + "/stat";
        job.await(() -> Files.readString(Path.of(other)).contains(") T "));
        Files.createFile(directory.resolve("go"));
        job.await(() -> job.soFar().errors().contains("detached"));
        assertEquals(0, retried(udckpts, "checkpoint", "second").code(), job::text);
        Files.createFile(directory.resolve("finish"));
        Udckpts.Result end = job.await(60);
        Files.delete(directory.resolve("finish"));
        assertEquals(0, end.code(), end.toString());
        assertTrue(end.output().contains("budget 1000, 0 sums wrong"), end.toString());
        assertTrue(
                end.errors().contains("$1 = 1") && end.errors().contains("$2 = 2") && end.errors().contains("$3 = 1"),
                end.toString());
        assertTrue(end.errors().matches("(?s).*Breakpoint 1.*fill \\(.*advance \\(step=.*main \\(.*"), end.toString());
        List<String> sizes = end.errors().lines().filter(line -> line.matches("\\d+")).toList();
        assertEquals(2, sizes.size(), end.toString());
        assertEquals(sizes.get(0), sizes.get(1), "the log has grown while the job stood\n" + end);
    }

    /** On a terminal: gdb reads from there, and the job's standard input is not what is typed. */
    private void assertAPersonMayUseIt(Udckpts udckpts) throws Exception {
        Path keys = Files.write(directory.resolve("keys"),
                List.of("print 6*7", "frame function main", "print ranks", "kill", "y", "quit"));
        List<String> command = new ArrayList<>(ScriptedJava.command("restart"));
        command.addAll(
                List.of("org.udckpt.cli.Main", "restart", images() + "/ckpt-0001", "--debug", "0", "--gdb", "gdb -nx"));
        String line =
                command.stream().map(word -> "'" + word.replace("'", "'\\''") + "'").collect(Collectors.joining(" "));
        Udckpts.Result result = udckpts
                .start(List.of("script", "-qefc", line, "/dev/null"), Map.of("TERM", "dumb"), keys.toFile()).await(120);
        assertTrue(result.output().contains("$1 = 42") && result.output().contains("$2 = 2"), result.toString());
        assertTrue(result.output().contains("was killed in the debugger before the job continued"), result.toString());
        assertEquals(75, result.code(), result.toString());
    }

    private void assertRefused(Udckpts udckpts, int code, String words, String... options) throws Exception {
        List<String> all = new ArrayList<>(List.of("restart", images()));
        all.addAll(List.of(options));
        Udckpts.Result result = udckpts.run(all.toArray(String[]::new));
        assertEquals(code, result.code(), result.toString());
        assertTrue(result.errors().contains(words), result.toString());
    }

    /** By its pid in the checkpoint; its parent, a shell, waits for it. */
    @Tag("slow")
    @Test
    void aProcessOfATree() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            killedAfterCheckpoint(udckpts, "ready", "--", "/bin/sh", "-c",
                    Udckpts.program("anatomy") + " " + file("finish") + " & wait $!; echo code $?");
            JsonNode processes = JSON.readTree(udckpts.run("inspect", images(), "--json").output()).path("processes");
            assertEquals(2, processes.size(), processes.toString());
            int pid = processes.path(1).path("pid").asInt();
            Files.createFile(directory.resolve("finish"));
            Udckpts.Result result = udckpts.run("restart", images(), "--debug", "pid:" + pid, "--debug-script",
                    script("print constants", "print heap", "thread 3", "print own", "watch shared", "delete"));
            assertEquals(0, result.code(), result.toString());
            assertTrue(result.output().contains("code 0"), result.toString());
            assertTrue(result.errors().contains("$1 = {11, 22, 33}") && result.errors().contains("text on the heap"),
                    result.toString());
            assertTrue(result.errors().matches("(?s).*\\$3 = 10[12]\\n.*"), result.toString());
            Udckpts.Result absent =
                    udckpts.run("restart", images(), "--debug", "pid:1", "--debug-script", script("detach"));
            assertEquals(66, absent.code(), absent.toString());
            assertTrue(absent.errors().contains("has no process 1; there are ")
                    && absent.errors().contains(pid + " (anatomy)"), absent.toString());
        }
    }

    private void killedAfterCheckpoint(Udckpts udckpts, String words, String... command) throws Exception {
        List<String> all = new ArrayList<>(List.of("run", "--name", "first", "--dir", images()));
        all.addAll(List.of(command));
        Udckpts.Running job = udckpts.start(all.toArray(String[]::new));
        job.awaitOutput(words);
        Udckpts.Result taken = retried(udckpts, "checkpoint", "first", "--then", "kill");
        assertEquals(0, taken.code(), () -> taken + "\n" + job.text());
        assertFalse(job.await(30).output().contains("budget"));
    }

    /** A job's command socket is there a little after its first words. */
    private static Udckpts.Result retried(Udckpts udckpts, String... command) throws Exception {
        Udckpts.Result result = udckpts.run(command);
        for (int i = 0; i < 20 && result.code() == 66; i++) {
            result = udckpts.run(command);
        }
        return result;
    }

    private String script(String... commands) throws Exception {
        return Files.write(Files.createTempFile(directory, "script", ".gdb"), List.of(commands)).toString();
    }

    private String images() {
        return file("images");
    }

    private String file(String name) {
        return directory.resolve(name).toString();
    }
}
