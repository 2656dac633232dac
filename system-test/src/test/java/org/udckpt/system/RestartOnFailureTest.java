package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.support.report.Failure;

/** {@code udckpt run --restart-on-failure}: what is restarted, from where, and what is not. */
@Timeout(300)
class RestartOnFailureTest {
    private static final String FLAG = "--restart-on-failure";
    private static final String FAILS_WHEN_TOLD =
            "touch ready; echo begun; until [ -e crash ]; do sleep 0.05; done; echo over; exit 7";
    private static final int MEBIBYTES = 2;

    @Test
    void killedRanksComeBackAndTheResultIsRight() throws Exception {
        try (RunningJob job = RunningJob.ballast(MEBIBYTES, FLAG)) {
            assertEquals("ckpt-0001", job.checkpoint());
            killAndAwaitNextIncarnation(job, 1);
            assertEquals("ckpt-0002", job.checkpoint());
            killAndAwaitNextIncarnation(job, 0);
            killAndAwaitNextIncarnation(job, 1); // the same checkpoint again, or the one before
            job.finish();
            assertTrue(job.errors().contains("restarting it from " + job.directory.resolve("images/ckpt-0002")),
                    job::text);
        }
    }

    /** Of the newest checkpoint a byte is flipped after it was written. */
    @Tag("slow")
    @Test
    void aDamagedCheckpointIsPassedBy() throws Exception {
        try (RunningJob job = RunningJob.ballast(MEBIBYTES, FLAG)) {
            job.checkpoint();
            damage(job.directory.resolve("images").resolve(job.checkpoint()));
            killAndAwaitNextIncarnation(job, 0);
            job.finish();
            assertTrue(job.errors().contains("restarting it from " + job.directory.resolve("images/ckpt-0001")),
                    job::text);
        }
    }

    static void damage(Path checkpoint) throws IOException {
        Path threads;
        try (var files = Files.walk(checkpoint)) {
            threads = files.filter(file -> file.getFileName().toString().endsWith(".threads.arrow")).findFirst()
                    .orElseThrow();
        }
        try (FileChannel file = FileChannel.open(threads, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            java.nio.ByteBuffer one = java.nio.ByteBuffer.allocate(1);
            file.read(one, file.size() / 2);
            one.put(0, (byte) ~one.get(0)).flip();
            file.write(one, file.size() / 2);
        }
    }

    @Test
    void whatFailsAgainAndAgainEndsWithItsCode() throws Exception {
        try (RunningJob job = RunningJob.script(FAILS_WHEN_TOLD, FLAG, "2")) {
            job.checkpoint();
            Files.createFile(job.directory.resolve("crash"));
            job.assertEnds(7);
            assertEquals("begun\nover\nover\nover\n", Files.readString(job.directory.resolve("job.out")), job::text);
        }
    }

    @Tag("slow")
    @Test
    void anEndThatWasAskedForIsNoFailure() throws Exception {
        try (RunningJob job = RunningJob.script("trap 'exit 9' TERM; " + FAILS_WHEN_TOLD, FLAG)) {
            job.checkpoint();
            job.agent.destroy(); // SIGTERM to udckpt
            job.assertEnds(9);
        }
        try (RunningJob job = RunningJob.script(FAILS_WHEN_TOLD, FLAG)) {
            job.checkpoint(true, true, _ -> {});
            job.assertEnds(0);
        }
    }

    /** In its directory is one of another job, from which nobody wants it to go on. */
    @Tag("slow")
    @Test
    void withoutACheckpointOfItsOwnItIsNotRestarted() throws Exception {
        Path directory;
        try (RunningJob other = RunningJob.script(FAILS_WHEN_TOLD, FLAG)) {
            other.checkpoint();
            directory = other.directory;
            Path later = Files.createTempDirectory("udckpt-j");
            Files.move(directory.resolve("images"), later.resolve("images"));
            try (RunningJob job = RunningJob.script(later, FAILS_WHEN_TOLD, FLAG)) {
                Files.createFile(job.directory.resolve("crash"));
                job.assertEnds(7);
                assertTrue(job.errors().contains("it has no complete checkpoint"), job::text);
            }
            Files.createFile(directory.resolve("crash"));
            other.assertEnds(7);
            assertFalse(other.errors().contains("restarting"), other::text);
        }
    }

    /** Kills a rank, and waits until the incarnation after this one takes commands. */
    private static void killAndAwaitNextIncarnation(RunningJob job, int rank) throws Exception {
        long victim = job.rankPid(rank);
        ProcessHandle.of(victim).orElseThrow().destroyForcibly();
        job.await("the next incarnation", () -> {
            try {
                return job.rankPid(rank) != victim && job.status().path("ranks").get(rank).path("alive").asBoolean();
            } catch (Failure e) {
                return false; // between two incarnations, or in the middle of one's beginning or end
            }
        });
    }
}
