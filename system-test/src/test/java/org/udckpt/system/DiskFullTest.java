package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * A file system that fills up under a checkpoint costs that checkpoint, and nothing else: not the job, not the ones
 * before.
 */
@Timeout(180)
class DiskFullTest {
    private static final int MEBIBYTES = 8;
    private static final long LEFT = 6 << 20; // room for some of the memory of the next checkpoint, not for all of it

    @Tag("slow")
    @Test
    void theJobGoesOnAndTheLastGoodCheckpointStays() throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        Path images = Files.createDirectory(directory.resolve("images"));
        SmallDisk disk = SmallDisk.mount(images);
        assumeTrue(disk != null, "mounting a tmpfs is not permitted here");
        try (disk; RunningJob job = RunningJob.ballast(directory, images, MEBIBYTES)) {
            assertEquals("ckpt-0001", job.checkpoint());
            disk.shrink(LEFT);
            noSpace(job, images + "/ckpt-0002/"); // memory, or a table that is written meanwhile
            withoutWaiting(job);
            killNeedsADurableCheckpoint(job);
            disk.shrink(0); // now not even the new checkpoint's number can be written down
            noSpace(job, images.toString(), "sequence");
            disk.resize(SmallDisk.ROOMY);
            String next = job.checkpoint();
            job.assertOnly("ckpt-0001", next);
            restart(job, images.resolve("ckpt-0001"));
        } finally {
            if (directory.toFile().list().length == 1) { // a job that was good has removed all but the mount point
                Files.delete(images);
                Files.delete(directory);
            }
        }
    }

    /** The one that was there before the disk was full. */
    private static void restart(RunningJob job, Path checkpoint) throws Exception {
        assertEquals(0, job.commands.run("kill", 60, "checkpoint", "job", "--then", "kill"), job::text);
        assertTrue(job.agent.waitFor(60, TimeUnit.SECONDS), job::text);
        Process again = job.commands.start("again", "restart", checkpoint.toString());
        Files.createFile(job.directory.resolve("finish"));
        assertTrue(again.waitFor(60, TimeUnit.SECONDS), job.commands.printed("again"));
        assertTrue(again.exitValue() == 0 && job.commands.printed("again").contains("PASS"),
                job.commands.printed("again"));
        job.assertEnds(0);
    }

    private static void noSpace(RunningJob job, String... words) throws Exception {
        Failure failure = job.failingCheckpoint();
        assertEquals(ExitCode.NO_SPACE, failure.code(), failure.getMessage());
        for (String word : words) {
            assertTrue(failure.getMessage().contains(word), failure.getMessage());
        }
        assertTrue(failure.getMessage().contains("free some") && failure.getMessage().contains("--dir"),
                failure.getMessage());
        assertTrue(failure.getMessage().contains("the job goes on"), failure.getMessage());
        job.assertUnhurt(RunningJob.RANKS);
        job.assertOnly("ckpt-0001");
        assertEquals("running", job.status().path("state").asText());
    }

    /** Nobody waits for the answer any more: it goes to the job's own standard error. */
    private static void withoutWaiting(RunningJob job) throws Exception {
        String id = job.checkpoint(false, false, _ -> {});
        job.await("the report of the failed write", () -> job.errors().contains("checkpoint " + id + " of job job: "));
        assertTrue(job.errors().contains("no space left"), job::text);
        job.assertUnhurt(RunningJob.RANKS);
        job.assertOnly("ckpt-0001");
    }

    /** The user's command, with its exit code; the job must not be ended for a checkpoint that does not exist. */
    private static void killNeedsADurableCheckpoint(RunningJob job) throws Exception {
        assertEquals(73, job.commands.run("checkpoint", 60, "checkpoint", "job", "--then", "kill"), job::text);
        assertTrue(job.agent.isAlive(), job::text);
        job.assertUnhurt(RunningJob.RANKS);
        job.assertOnly("ckpt-0001");
    }
}
