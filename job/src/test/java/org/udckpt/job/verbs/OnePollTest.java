package org.udckpt.job.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.job.cli.Udckpts;

/** One poll gets the completions that a checkpoint has taken from the device, and those that came after it. */
@Timeout(300)
class OnePollTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"1,false", "1,true", "0,false", "0,true"})
    void getsAllThatThereAre(String lending, boolean restarts) throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            String images = directory.resolve("images").toString();
            Path go = directory.resolve("go");
            String program = Udckpts.nativeFile("virtualization/polls_once").toString();
            Udckpts.Running life = udckpts.start(Map.of("UDCKPT_LENDING", lending), new File("/dev/null"),
                    "run", "-n", "1", "--name", "poll", "--dir", images, "--", program, go.toString());
            while (!life.soFar().output().contains("ready")) {
                assertTrue(life.isAlive(), life.soFar().toString());
                Thread.sleep(20);
            }
            Udckpts.Result checkpoint =
                    restarts ? udckpts.run("checkpoint", "poll", "--then", "kill") : udckpts.run("checkpoint", "poll");
            assertEquals(0, checkpoint.code(), checkpoint.toString());
            if (restarts) {
                assertEquals(0, life.await(120).code(), life.soFar().toString());
                life = udckpts.start("restart", images);
                awaitRestarted(udckpts, life);
            }
            Files.createFile(go);
            Udckpts.Result end = life.await(120);
            assertEquals(0, end.code(), end.toString());
            assertTrue(end.output().endsWith("PASS\n"), end.toString());
        }
    }

    /** Whether the job can be checkpointed again. */
    private static void awaitRestarted(Udckpts udckpts, Udckpts.Running life) throws Exception {
        while (udckpts.run("checkpoint", "poll").code() != 0) {
            assertTrue(life.isAlive(), life.soFar().toString());
            Thread.sleep(100);
        }
    }
}
