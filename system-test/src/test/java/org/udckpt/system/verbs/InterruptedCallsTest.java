package org.udckpt.system.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.system.cli.Udckpts;

/**
 * The calls of libibverbs and librdmacm that wait for ever end with EINTR, or go on, as on a device: by the flags of
 * the signal's handler alone. Checkpoints and restarts end none.
 */
@Tag("slow")
@Timeout(600)
class InterruptedCallsTest {
    private static final int CHECKPOINTS = 3;

    @TempDir
    Path directory;

    @Test
    void handlersDecideWhichWaitsEndOverRestarts() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            String images = directory.resolve("images").toString();
            Path finish = directory.resolve("finish");
            Udckpts.Running run = udckpts.start("run", "-n", "1", "--name", "interrupted", "--dir", images, "--",
                    Udckpts.nativeFile("virtualization/interrupted_calls").toString(), "7308", finish.toString());
            awaitRound(run);
            for (int i = 0; i < CHECKPOINTS; i++) {
                Udckpts.Result checkpoint = udckpts.run("checkpoint", "interrupted");
                assertEquals(0, checkpoint.code(), checkpoint + run.soFar().errors());
            }
            Udckpts.Result checkpoint = udckpts.run("checkpoint", "interrupted", "--then", "kill");
            assertEquals(0, checkpoint.code(), checkpoint + run.soFar().errors());
            assertEquals(0, run.await(120).code(), run.soFar().toString());
            run = udckpts.start("restart", images);
            awaitRound(run);
            Files.createFile(finish);
            Udckpts.Result end = run.await(120);
            assertEquals(0, end.code(), end.toString());
            assertTrue(end.output().endsWith("PASS\n"), end.toString());
        }
    }

    private static void awaitRound(Udckpts.Running run) throws Exception {
        while (run.soFar().output().lines().noneMatch(line -> line.startsWith("round "))) {
            assertTrue(run.isAlive(), run.soFar().toString());
            Thread.sleep(20);
        }
    }
}
