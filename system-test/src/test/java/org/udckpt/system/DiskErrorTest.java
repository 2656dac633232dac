package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * A disk that fails (EIO) under a checkpoint costs that checkpoint, and nothing else: the job computes on, and goes on
 * later from the one before. The disk is a file; its file system is told to shut down, and is whole again when it is
 * mounted anew.
 */
@Tag("slow")
@Timeout(180)
class DiskErrorTest {
    private static final int MEBIBYTES = 16;
    private static final long DISK = 512L << 20;
    /** FS_IOC_SHUTDOWN with FS_SHUTDOWN_FLAGS_NOLOGFLUSH (linux/fs.h): what is not on the disk by now will not be. */
    private static final String SHUT_DOWN =
            "import fcntl, os, struct, sys; fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, "
                    + "struct.pack('I', 2))";

    @Test
    void theJobGoesOnAndTheLastGoodCheckpointStays() throws Exception {
        Path directory = Files.createTempDirectory("udckpt-j");
        Path disk = directory.resolve("disk"), images = Files.createDirectory(directory.resolve("images"));
        assumeTrue(make(disk) && mount(disk, images), "no file system can be mounted here");
        try (RunningJob job = RunningJob.ballast(directory, images.resolve("job"), MEBIBYTES, "--max-rate", "16M",
                "--buffer", "4M")) {
            assertEquals("ckpt-0001", job.checkpoint());
            String id = job.checkpoint(false, false, _ -> {});
            Thread.sleep(300);
            assertFalse(Files.exists(images.resolve("job/" + id + "/manifest")), "it is still being written");
            assertEquals(0, SmallDisk.run("python3", "-c", SHUT_DOWN, images.toString()));
            job.await("the report of the failed write",
                    () -> job.errors().contains("checkpoint " + id + " of job job: "));
            assertTrue(job.errors().contains(images + "/job/" + id) && job.errors().contains("the job goes on"),
                    job::text);
            job.assertUnhurt(RunningJob.RANKS);
            Failure failure = job.failingCheckpoint();
            assertEquals(ExitCode.IO, failure.code(), failure.getMessage());
            assertTrue(failure.getMessage().contains(images + "/job")
                    && failure.getMessage().contains("nput/output error"), failure.getMessage());
            job.assertUnhurt(RunningJob.RANKS);
            assertEquals("running", job.status().path("state").asText());

            assertEquals(0, SmallDisk.run("umount", "-l", images.toString()));
            // tests beside have namespaces with copies of all mounts, which keep the failed one alive
            Path after = directory.resolve("disk-after");
            assertEquals(0, SmallDisk.run("cp", "--sparse=always", disk.toString(), after.toString()));
            assertTrue(mount(after, images));
            assertEquals(0, job.commands.run("verify", 60, "verify", images.resolve("job").toString()), job::text);
            assertTrue(job.commands.printed("verify").contains("ckpt-0001"), job.commands.printed("verify"));
            assertEquals("ckpt-0003", job.checkpoint(), "and the next one is taken, under a new number");
            job.finish();
            Process again = job.commands.start("again", "restart", images.resolve("job/ckpt-0001").toString());
            assertTrue(again.waitFor(60, TimeUnit.SECONDS), job.commands.printed("again")); // it is to finish at once
            assertTrue(again.exitValue() == 0 && job.commands.printed("again").contains("PASS"),
                    job.commands.printed("again"));
        } finally {
            SmallDisk.run("umount", "-l", images.toString());
            if (directory.toFile().list().length == 1) { // a job that was good has removed all but the mount point
                Files.delete(images);
                Files.delete(directory);
            }
        }
    }

    private static boolean make(Path file) throws IOException, InterruptedException {
        try (RandomAccessFile disk = new RandomAccessFile(file.toFile(), "rw")) {
            disk.setLength(DISK);
        }
        return SmallDisk.run("mkfs.ext4", "-q", "-F", "-m", "0", file.toString()) == 0;
    }

    private static boolean mount(Path file, Path directory) throws IOException, InterruptedException {
        return SmallDisk.run("mount", "-o", "loop", file.toString(), directory.toString()) == 0;
    }
}
