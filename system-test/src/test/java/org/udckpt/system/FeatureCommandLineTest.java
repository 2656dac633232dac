package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Some feature programs through the real command line: udckpt run, checkpoint --then kill, restart. */
class FeatureCommandLineTest {
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);
    private static final List<String> SMOKE =
            List.of("threads", "pipe_data", "epoll", "forked_child", "shared_memory", "file_offset", "vdso_time");
    private static final int GENERATIONS = Integer.getInteger("udckpt.generations", 1);

    @Tag("slow")
    @Test
    void connection() throws Exception {
        System.out.println("feature by command line: -Dudckpt.seed=" + SEED);
        chain("tcp_socket");
    }

    /** Only a rank that a command has started has a process manager. */
    @Test
    void processManager() throws Exception {
        chain("process_manager");
    }

    @Tag("slow")
    @TestFactory
    Stream<DynamicTest> smoke() {
        System.out.println("features by command line: -Dudckpt.seed=" + SEED + " -Dudckpt.generations=" + GENERATIONS);
        return SMOKE.stream().map(name -> DynamicTest.dynamicTest(name, () -> chain(name)));
    }

    @TestFactory
    Stream<DynamicTest> refused() {
        return Stream.of("userfaultfd", "landlock")
                .map(name -> DynamicTest.dynamicTest(name + " is refused", () -> refusal(name)));
    }

    private static void chain(String name) throws Exception {
        Path directory = Files.createTempDirectory("udckpt-c");
        CommandLine commands = new CommandLine(directory);
        Path work = Files.createDirectory(directory.resolve("work"));
        Random random = new Random(SEED ^ name.hashCode());
        Process agent = commands.start("job", "run", "-n", "1", "--name", "job", "--dir",
                directory.resolve("ckpt").toString(), "--",
                CommandLine.artifact("features/" + name).toString(), work.toString());
        try {
            for (int generation = 1; generation <= GENERATIONS; generation++) {
                awaitFile(work.resolve("ready"), agent, commands);
                Thread.sleep(random.nextInt(300));
                assertEquals(0, commands.run("checkpoint", 40, "checkpoint", "job", "--then", "kill"),
                        () -> text(commands));
                assertTrue(agent.waitFor(20, TimeUnit.SECONDS), "the job did not end after --then kill");
                Files.delete(work.resolve("ready"));
                agent = commands.start("job", "restart", directory.resolve("ckpt").toString(), "--name", "job");
                awaitFile(commands.runtime().resolve("job/command.sock"), agent, commands);
                Files.createFile(work.resolve("ready")); // it says so in its first incarnation only
                Thread.sleep(200);
            }
            verdict(agent, work, commands);
        } finally {
            end(agent, commands);
        }
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor(); // kept when anything above failed
    }

    private static void refusal(String name) throws Exception {
        Path directory = Files.createTempDirectory("udckpt-c");
        CommandLine commands = new CommandLine(directory);
        Path work = Files.createDirectory(directory.resolve("work"));
        Process agent = commands.start("job", "run", "-n", "1", "--name", "job", "--dir",
                directory.resolve("ckpt").toString(), "--",
                CommandLine.artifact("features/" + name).toString(), work.toString());
        try {
            awaitFile(work.resolve("ready"), agent, commands);
            assertEquals(69, commands.run("checkpoint", 40, "checkpoint", "job"), () -> text(commands));
            assertEquals(69, commands.run("checkpoint", 40, "checkpoint", "job", "--no-wait"), () -> text(commands));
            assertTrue(text(commands).toLowerCase().contains(name),
                    () -> "the refusal does not name it\n" + text(commands));
            verdict(agent, work, commands);
        } finally {
            end(agent, commands);
        }
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
    }

    private static void verdict(Process agent, Path work, CommandLine commands) throws Exception {
        assertFalse(Files.exists(work.resolve("result")), () -> "it failed before it was asked\n" + text(commands));
        Files.createFile(work.resolve("finish"));
        assertTrue(agent.waitFor(30, TimeUnit.SECONDS), () -> "it did not finish\n" + text(commands));
        assertEquals("PASS\n", Files.readString(work.resolve("result")), () -> text(commands));
        assertEquals(0, agent.exitValue(), () -> text(commands));
    }

    private static void awaitFile(Path file, Process agent, CommandLine commands) throws Exception {
        for (int round = 0; !Files.exists(file); round++) {
            assertTrue(agent.isAlive() && round < 1500, () -> file + " did not appear\n" + text(commands));
            Thread.sleep(20);
        }
    }

    private static void end(Process agent, CommandLine commands) throws Exception {
        agent.destroy(); // as a user's ^C: the agent ends the ranks and its shepherd
        if (!agent.waitFor(10, TimeUnit.SECONDS)) {
            agent.destroyForcibly().waitFor();
        }
        RankProcesses.kill(commands.runtime().resolve("job"));
    }

    private static String text(CommandLine commands) {
        try {
            return commands.printed("job") + commands.printed("checkpoint");
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }
}
