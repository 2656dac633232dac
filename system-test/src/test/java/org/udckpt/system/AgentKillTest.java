package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.udckpt.support.runtime.JobRecord;
import org.udckpt.support.runtime.RuntimeDirectory;

/**
 * kill -9 of the agent at random moments while it takes one checkpoint after the other. The job is never hurt by its
 * checkpointer: its ranks compute on to the right end, none stays stopped, and no snapshot stays.
 */
class AgentKillTest {
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);
    private static final int KILLS = Integer.getInteger("udckpt.kills", 10);
    private static final int RANKS = 2;
    private static final AtomicInteger TAKEN = new AtomicInteger();

    /** In the middle of the loop. */
    @Tag("slow")
    @Test
    void killedOnce() throws Exception {
        System.out.println("agent kill: -Dudckpt.seed=" + SEED);
        one(1);
    }

    @Tag("slow")
    @TestFactory
    Stream<DynamicTest> killedAtRandom() {
        System.out.println("agent kills: -Dudckpt.seed=" + SEED + " -Dudckpt.kills=" + KILLS);
        return Stream.concat(
                IntStream.range(0, KILLS)
                        .mapToObj(i -> DynamicTest.dynamicTest("kill " + i + " of seed " + SEED, () -> one(i))),
                Stream.of(DynamicTest.dynamicTest("checkpoints were running",
                        () -> assertTrue(KILLS == 1 || TAKEN.get() > 0,
                                "no checkpoint was completed before any kill"))));
    }

    private static void one(int index) throws Exception {
        Random random = new Random(SEED * 1000 + index);
        Path directory = Files.createTempDirectory("udckpt-k");
        CommandLine commands = new CommandLine(directory);
        Path runtime = commands.runtime().resolve("job");
        Process agent = commands.start("job", "run", "-n", Integer.toString(RANKS), "--name", "job", "--dir",
                directory.resolve("ckpt").toString(),
                "--", CommandLine.artifact("programs/mpi_stress").toString(), "--seconds", "90", "--finish-file",
                directory.resolve("finish").toString());
        Optional<ProcessHandle> shepherd = Optional.empty();
        try {
            await("the ranks' start", 120, () -> RankProcesses.of(runtime).size() >= RANKS, commands);
            shepherd = ProcessHandle.of(JobRecord.read(runtime).shepherdPid());
            assertTrue(shepherd.isPresent(), "no shepherd runs");
            await("the agent's command socket", 60, () -> Files.exists(runtime.resolve("command.sock")), commands);
            try (CheckpointLoop checkpoints = new CheckpointLoop(new RuntimeDirectory(runtime), agent.toHandle())) {
                if (index % 2 == 1) {
                    // every second one in the middle of the loop, the others in or before the first checkpoint
                    await("the first checkpoint", 120, () -> checkpoints.taken() > 0 || checkpoints.earlyEnd() != null,
                            commands);
                }
                Thread.sleep(random.nextInt(2000));
                assertNull(checkpoints.earlyEnd(), () -> "a checkpoint failed\n" + text(commands));
                assertTrue(agent.isAlive(), () -> "the agent ended before it was killed\n" + text(commands));
                TAKEN.addAndGet(checkpoints.taken());
                agent.destroyForcibly().waitFor();
            }
            ProcessHandle parent = shepherd.get();
            if (!endedInItsStart(runtime, parent, commands)) {
                ranksGoOn(runtime, commands);
                Files.createFile(directory.resolve("finish"));
                await("the ranks' end", 180, () -> !parent.isAlive(), commands);
                String output = Files.readString(commands.output("job"));
                assertTrue(output.contains("PASS"), () -> "the ranks did not compute to the end\n" + text(commands));
                assertFalse(output.contains("FAIL"), () -> text(commands));
            }
            assertEquals(List.of(), RankProcesses.of(runtime), () -> "processes are left\n" + text(commands));
            theNewestCheckpointIsWhole(directory, commands);
        } finally {
            agent.destroyForcibly();
            RankProcesses.kill(runtime);
            shepherd.ifPresent(ProcessHandle::destroyForcibly);
        }
        new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor(); // kept when anything above failed
    }

    /** Whatever was cut off: what is listed as complete can be read, and the job goes on from it. */
    private static void theNewestCheckpointIsWhole(Path directory, CommandLine commands) throws Exception {
        Path images = directory.resolve("ckpt"), finish = directory.resolve("finish");
        try (Stream<Path> checkpoints = Files.isDirectory(images) ? Files.list(images) : Stream.empty()) {
            if (checkpoints.noneMatch(checkpoint -> Files.exists(checkpoint.resolve("manifest")))) {
                return;
            }
        }
        assertEquals(0, commands.run("verify", 60, "verify", images.toString()), () -> text(commands));
        if (Files.notExists(finish)) {
            Files.createFile(finish);
        }
        assertEquals(0, commands.run("again", 90, "restart", images.toString()), () -> text(commands)); // to its end
        assertTrue(commands.printed("again").contains("PASS"), () -> text(commands));
    }

    /**
     * Ranks that are still exchanging addresses in MPI_Init need their agent, the process manager. Such a job may end,
     * but it has to say why; one that has begun to compute may not.
     */
    private static boolean endedInItsStart(Path runtime, ProcessHandle shepherd, CommandLine commands)
            throws Exception {
        if (Files.readString(commands.output("job")).contains("iteration")) {
            return false;
        }
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(15);
        while (shepherd.isAlive() && System.nanoTime() < end) {
            Thread.sleep(50); // MPICH takes a moment to abort
        }
        if (shepherd.isAlive()) {
            return false;
        }
        assertTrue(text(commands).contains("the agent of this job is gone") && text(commands).contains("MPI_Init"),
                () -> "the job ended without saying why\n" + text(commands));
        return true;
    }

    private static void ranksGoOn(Path runtime, CommandLine commands) throws Exception {
        // a snapshot that was being read needs a moment to be found and killed by the shepherd
        await("the end of the snapshots", 60, () -> RankProcesses.of(runtime).size() == RANKS, commands);
        for (long pid : RankProcesses.of(runtime)) {
            String states = RankProcesses.states(pid);
            assertFalse(states.matches(".*[TtXZ].*"),
                    () -> "rank process " + pid + " has threads in states " + states + "\n" + text(commands));
        }
    }

    private interface Condition {
        boolean holds() throws IOException;
    }

    private static void await(String what, int seconds, Condition condition, CommandLine commands) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!condition.holds()) {
            assertTrue(System.nanoTime() < end, () -> what + " did not come in " + seconds + " s\n" + text(commands));
            Thread.sleep(20);
        }
    }

    private static String text(CommandLine commands) {
        try {
            return commands.printed("job");
        } catch (IOException e) {
            return e.toString();
        }
    }
}
