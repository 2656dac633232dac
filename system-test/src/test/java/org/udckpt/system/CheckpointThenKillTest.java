package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * {@code checkpoint --then kill}: from the copy on the job does nothing that its restart would do once more. Ranks
 * count without a pause, into a file that no checkpoint has and on their standard output: no number is missing, and
 * none comes twice, over the end and the restart.
 */
@Timeout(240)
class CheckpointThenKillTest {
    private static final int SECONDS = 90;
    private static final int FULL_DISKS = 3;
    /** A loop of the shell's own between the lines, so that they are thousands a second and not all that there is. */
    private static final String COUNT = """
            i=0
            while [ ! -e finish ]; do
              i=$((i+1)); echo $i >> log.${PMI_RANK:-0}; echo ${PMI_RANK:-0} $i
              [ $i != 100 ] || echo > ready.${PMI_RANK:-0}
              j=0; while [ $j -lt 100 ]; do j=$((j+1)); done
            done
            """;

    /** From 1 on, each once. */
    private static void assertCounts(List<String> lines, String what) {
        for (int i = 0; i < lines.size(); i++) {
            assertEquals(Integer.toString(i + 1), lines.get(i), what + ": line " + (i + 1) + " of " + lines.size());
        }
        assertTrue(lines.size() > 100, () -> what + " has " + lines.size() + " lines");
    }

    /** What the incarnations have printed of a rank, one after the other. */
    private static List<String> printed(CommandLine commands, int rank, String... names) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String name : names) {
            Files.readAllLines(commands.output(name)).stream().filter(line -> line.startsWith(rank + " "))
                    .map(line -> line.substring(2)).forEach(lines::add);
        }
        return lines;
    }

    private static void await(CommandLine commands, String name, RunningJob.Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!condition.holds()) {
            assertTrue(System.nanoTime() < end, () -> {
                try {
                    return "it does not come: " + commands.printed(name).replaceAll("(?m)^\\d+ \\d+\\n", "");
                } catch (IOException e) {
                    return e.toString();
                }
            });
            Thread.sleep(20);
        }
    }

    private static long lines(Path log) throws IOException {
        try (var lines = Files.lines(log)) {
            return lines.count();
        }
    }

    /** Until it has counted further than it had. */
    private static void further(CommandLine commands, String name, Path log) throws Exception {
        long before = lines(log);
        await(commands, name, () -> lines(log) > before + 50);
    }

    private static void remove(Path directory) throws Exception {
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
    }

    /** Twice, since a restart's processes are others than a shepherd's own. */
    @Test
    void nothingIsDoneTwice() throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        CommandLine commands = new CommandLine(directory);
        Path log = directory.resolve("log.0"), images = directory.resolve("images");
        Process run = commands.start("first", "run", "--name", "job", "--dir", images.toString(), "--", "/bin/sh", "-c",
                COUNT);
        try {
            await(commands, "first", () -> Files.exists(directory.resolve("ready.0")));
            assertEquals(0, commands.run("kill", SECONDS, "checkpoint", "job", "--then", "kill"), () -> log.toString());
            assertTrue(run.waitFor(SECONDS, TimeUnit.SECONDS));
            assertEquals(0, run.exitValue());
            assertCounts(Files.readAllLines(log), "the file of the first incarnation");
            run = commands.start("second", "restart", images.toString());
            further(commands, "second", log);
            assertEquals(0, commands.run("kill", SECONDS, "checkpoint", "job", "--then", "kill"), () -> log.toString());
            assertTrue(run.waitFor(SECONDS, TimeUnit.SECONDS));
            run = commands.start("third", "restart", images.toString());
            further(commands, "third", log);
            Files.createFile(directory.resolve("finish"));
            assertTrue(run.waitFor(SECONDS, TimeUnit.SECONDS));
            assertEquals(0, run.exitValue());
            assertCounts(Files.readAllLines(log), log.toString());
            assertCounts(printed(commands, 0, "first", "second", "third"), "the output in " + directory);
        } finally {
            Files.writeString(directory.resolve("finish"), "");
            run.destroyForcibly().waitFor();
        }
        remove(directory);
    }

    /** The job goes on then, and does so once: its next checkpoint is as if there had been none before. */
    @Test
    void aWriteThatFailsLetsTheJobGoOn() throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        Path images = Files.createDirectory(directory.resolve("images"));
        SmallDisk disk = SmallDisk.mount(images);
        assumeTrue(disk != null, "mounting a tmpfs is not permitted here");
        Path log = directory.resolve("log.0");
        try (disk; RunningJob job = RunningJob.script(directory, COUNT.replace("ready.${PMI_RANK:-0}", "ready"))) {
            for (int i = 0; i < FULL_DISKS; i++) {
                disk.shrink(16 << 10 << 2 * i);
                Failure failure = failing(job);
                assertEquals(ExitCode.NO_SPACE, failure.code(), failure.getMessage());
                assertTrue(failure.getMessage().contains("the job goes on"), failure.getMessage());
                further(job.commands, "job", log);
                job.assertUnhurt(1);
            }
            disk.resize(SmallDisk.ROOMY);
            job.checkpoint(true, true, _ -> {});
            job.assertEnds(0);
            Process again = job.commands.start("again", "restart", images.toString());
            further(job.commands, "again", log);
            Files.createFile(directory.resolve("finish"));
            assertTrue(again.waitFor(SECONDS, TimeUnit.SECONDS));
            assertEquals(0, again.exitValue());
            assertCounts(Files.readAllLines(log), log.toString());
            assertCounts(printed(job.commands, 0, "job", "again"), "the output in " + directory);
        }
        remove(directory);
    }

    private static Failure failing(RunningJob job) {
        try {
            throw new AssertionError("the checkpoint " + job.checkpoint(true, true, _ -> {}) + " was taken");
        } catch (Failure e) {
            return e;
        }
    }

    /** Two agents, and a rank with each. */
    @Tag("slow")
    @Test
    void nothingIsDoneTwiceOnSeveralHosts() throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        Path images = Files.createDirectory(directory.resolve("images"));
        SmallDisk disk = SmallDisk.mount(images);
        CommandLine commands = new CommandLine(directory);
        Map<String, String> remote = Map.of("UDCKPT_REMOTE", LocalAgents.agent(directory).toString());
        Process run = commands.start("first", remote, "run", "--starter", "local", "--hosts", "a:1,b:1", "--name",
                "job", "--dir", images.toString(), "--", "/bin/sh", "-c", COUNT);
        try {
            for (int rank = 0; rank < 2; rank++) {
                Path ready = directory.resolve("ready." + rank);
                await(commands, "first", () -> Files.exists(ready));
            }
            if (disk != null) {
                disk.shrink(64 << 10);
                assertEquals(ExitCode.NO_SPACE.value(),
                        commands.run("full", SECONDS, "checkpoint", "job", "--then", "kill"),
                        () -> directory.toString());
                further(commands, "first", directory.resolve("log.0"));
                further(commands, "first", directory.resolve("log.1"));
                disk.resize(SmallDisk.ROOMY);
            }
            assertEquals(0, commands.run("kill", SECONDS, "checkpoint", "job", "--then", "kill"),
                    () -> directory.toString());
            assertTrue(run.waitFor(SECONDS, TimeUnit.SECONDS));
            assertEquals(0, run.exitValue());
            run = commands.start("second", remote, "restart", "--starter", "local", images.toString());
            further(commands, "second", directory.resolve("log.0"));
            further(commands, "second", directory.resolve("log.1"));
            Files.createFile(directory.resolve("finish"));
            assertTrue(run.waitFor(SECONDS, TimeUnit.SECONDS));
            assertEquals(0, run.exitValue());
            for (int rank = 0; rank < 2; rank++) {
                assertCounts(Files.readAllLines(directory.resolve("log." + rank)),
                        directory.resolve("log." + rank).toString());
                assertCounts(printed(commands, rank, "first", "second"),
                        "the output of rank " + rank + " in " + directory);
            }
        } finally {
            Files.writeString(directory.resolve("finish"), "");
            run.destroyForcibly().waitFor();
            if (disk != null) {
                disk.close();
            }
        }
        remove(directory);
    }
}
