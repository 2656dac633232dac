package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Ranks that die or end while their checkpoint is taken: what is durable stays, what is not goes, and nobody hangs. */
@Timeout(180)
class RankDeathTest {
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);
    private static final int SMALL = 2;
    private static final int LONG_WRITE = 192; // MiB a rank: much longer than a test needs to act in the middle of it
    private static final int KILLED = 9;

    /** A checkpoint that is asked for in a thread of its own: its id, or why it failed. */
    private record Answer(String id, Failure failure) {}

    private static CompletableFuture<Answer> ask(RunningJob job, boolean kill, Runnable atWrite) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return new Answer(job.checkpoint(true, kill, event -> {
                    if (event.startsWith("snapshot")) { // told when the job runs again: the image is being written
                        atWrite.run();
                    }
                }), null);
            } catch (Failure e) {
                return new Answer(null, e);
            }
        });
    }

    private static void assertAnswered(RunningJob job, Answer answer) throws Exception {
        if (answer.failure() == null) {
            job.assertOnly(answer.id());
        } else {
            assertEquals(ExitCode.BUSY, answer.failure().code(), answer.failure().getMessage());
            assertTrue(answer.failure().getMessage().contains("ended"), answer.failure().getMessage());
            job.assertOnly();
        }
    }

    /** A rank that is stopped by a signal cannot reach the gate: the checkpoint is surely in suspend when it dies. */
    @Test
    void killedInSuspend() throws Exception {
        try (RunningJob job = RunningJob.ballast(SMALL)) {
            long victim = job.rankPid(1);
            signal("STOP", victim);
            CompletableFuture<Answer> answer = ask(job, false, () -> {});
            job.await("the suspend phase", () -> job.status().path("state").asText().equals("suspend"));
            signal("KILL", victim);
            Answer refused = answer.get(60, TimeUnit.SECONDS);
            assertEquals(null, refused.id());
            assertAnswered(job, refused);
            job.assertEnds(KILLED);
            assertTrue(job.errors().contains("rank 1 (process " + victim + ") was ended by signal 9"), job::text);
        }
    }

    @RepeatedTest(2)
    void killedAtRandom(RepetitionInfo repetition) throws Exception {
        Random random = new Random(SEED + repetition.getCurrentRepetition());
        System.out
                .println("kill of a rank: -Dudckpt.seed=" + SEED + ", repetition " + repetition.getCurrentRepetition());
        try (RunningJob job = RunningJob.ballast(SMALL)) {
            long victim = job.rankPid(random.nextInt(RunningJob.RANKS));
            CompletableFuture<Answer> answer = ask(job, repetition.getCurrentRepetition() == 2, () -> {});
            Thread.sleep(random.nextInt(120));
            signal("KILL", victim);
            Answer result = answer.get(60, TimeUnit.SECONDS);
            assertTrue(job.agent.waitFor(60, TimeUnit.SECONDS), job::text);
            boolean endedByCheckpoint = result.id() != null && job.agent.exitValue() == 0;
            job.assertEnds(endedByCheckpoint ? 0 : KILLED);
            assertAnswered(job, result);
        }
    }

    @Tag("slow")
    @Test
    void killedWhileItsSnapshotIsWritten() throws Exception {
        try (RunningJob job = RunningJob.ballast(LONG_WRITE)) {
            long victim = job.rankPid(0);
            Answer answer = ask(job, false, () -> signal("KILL", victim)).get(120, TimeUnit.SECONDS);
            assertEquals("ckpt-0001", answer.id(), () -> "a snapshot does not need its rank: " + answer.failure());
            job.assertEnds(KILLED);
            job.assertOnly("ckpt-0001");
        }
    }

    @Tag("slow")
    @Test
    void aSnapshotIsKilled() throws Exception {
        try (RunningJob job = RunningJob.ballast(LONG_WRITE)) {
            List<Long> ranks = List.of(job.rankPid(0), job.rankPid(1));
            Answer answer = ask(job, false, () -> snapshots(job, ranks).forEach(pid -> signal("KILL", pid))).get(60,
                    TimeUnit.SECONDS);
            assertEquals(ExitCode.BUSY, answer.failure().code(), answer.toString());
            assertTrue(answer.failure().getMessage().endsWith("try again; the job goes on"), answer.toString());
            job.assertUnhurt(RunningJob.RANKS);
            job.assertOnly();
            assertEquals("ckpt-0002", job.checkpoint());
            job.finish();
        }
    }

    private static List<Long> snapshots(RunningJob job, List<Long> ranks) {
        try {
            List<Long> others = RankProcesses.of(job.runtime()).stream().filter(pid -> !ranks.contains(pid)).toList();
            assertEquals(RunningJob.RANKS, others.size(), others.toString());
            return others;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Tag("slow")
    @Test
    void endsWhileItsSnapshotIsWritten() throws Exception {
        try (RunningJob job = RunningJob.ballast(LONG_WRITE)) {
            CompletableFuture<Void> finishing = new CompletableFuture<>();
            CompletableFuture<Answer> answer = ask(job, false, () -> finishing.complete(null));
            finishing.get(60, TimeUnit.SECONDS);
            job.finish();
            assertEquals("ckpt-0001", answer.get(60, TimeUnit.SECONDS).id(), "it was waited for");
            job.assertOnly("ckpt-0001");
        }
    }

    /** As the one before, but the agent asked itself for the checkpoint. */
    @Tag("slow")
    @Test
    void endsWhileACheckpointByItselfIsWritten() throws Exception {
        try (RunningJob job = RunningJob.ballast(LONG_WRITE, "--interval", "500ms")) {
            job.await("the write phase", () -> job.status().path("state").asText().equals("write"));
            int before = job.images().size();
            job.finish();
            assertTrue(job.complete().size() >= before, () -> "the last checkpoint was given up\n" + job.text());
            assertEquals(job.complete().size(), job.images().size());
        }
    }

    @Test
    void endsAfterItsLastCheckpoint() throws Exception {
        try (RunningJob job = RunningJob.ballast(SMALL)) {
            Answer answer = ask(job, true, () -> {}).get(60, TimeUnit.SECONDS);
            assertEquals("ckpt-0001", answer.id());
            job.assertEnds(0);
            job.assertOnly("ckpt-0001");
            assertTrue(Files.notExists(job.directory.resolve("finish")) && !job.output().contains("PASS"), job::text);
        }
    }

    private static void signal(String name, long pid) {
        if (name.equals("KILL")) { // at once, without another process
            assertTrue(ProcessHandle.of(pid).map(ProcessHandle::destroyForcibly).orElse(false),
                    "process " + pid + " is gone");
            return;
        }
        try {
            assertEquals(0, new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor());
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
