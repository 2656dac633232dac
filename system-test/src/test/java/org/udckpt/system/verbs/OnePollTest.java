package org.udckpt.system.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.system.cli.Udckpts;

/** Completions that a checkpoint has taken from the device are polled, and told of, as the device's are. */
@Tag("slow")
@Timeout(300)
class OnePollTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"fused,false", "fused,true", "generic,false", "generic,true"})
    void getsAllThatThereAre(String dataPath, boolean restarts) throws Exception {
        goesOn("polls_once", dataPath, restarts);
    }

    /** perftest (-e) takes each event for a message: after one too many, both sides wait for the last message. */
    @ParameterizedTest
    @CsvSource({"fused,false", "fused,true", "generic,false", "generic,true"})
    void whatIsPolledFirstHasNoEvent(String dataPath, boolean restarts) throws Exception {
        goesOn("events_once", dataPath, restarts);
    }

    /** As garbage collectors do it (pyverbs). */
    @ParameterizedTest
    @CsvSource({"fused,false", "fused,true", "generic,false", "generic,true"})
    void whatIsDestroyedAfterItsDeviceWasClosedIsMemory(String dataPath, boolean restarts) throws Exception {
        goesOn("closed_first", dataPath, restarts);
    }

    private void goesOn(String name, String dataPath, boolean restarts) throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            String images = directory.resolve("images").toString();
            Path go = directory.resolve("go");
            String program = Udckpts.nativeFile("virtualization/" + name).toString();
            Udckpts.Running run = udckpts.start(Map.of("UDCKPT_DATA_PATH", dataPath), new File("/dev/null"),
                    "run", "-n", "1", "--name", "poll", "--dir", images, "--", program, go.toString());
            while (!run.soFar().output().contains("ready")) {
                assertTrue(run.isAlive(), run.soFar().toString());
                Thread.sleep(20);
            }
            Udckpts.Result checkpoint =
                    restarts ? udckpts.run("checkpoint", "poll", "--then", "kill") : udckpts.run("checkpoint", "poll");
            assertEquals(0, checkpoint.code(), checkpoint.toString());
            if (restarts) {
                assertEquals(0, run.await(120).code(), run.soFar().toString());
                run = udckpts.start("restart", images);
                awaitRestarted(udckpts, run);
            }
            Files.createFile(go);
            Udckpts.Result end = run.await(120);
            assertEquals(0, end.code(), end.toString());
            assertTrue(end.output().endsWith("PASS\n"), end.toString());
        }
    }

    /** Whether the job can be checkpointed again. */
    private static void awaitRestarted(Udckpts udckpts, Udckpts.Running run) throws Exception {
        while (udckpts.run("checkpoint", "poll").code() != 0) {
            assertTrue(run.isAlive(), run.soFar().toString());
            Thread.sleep(100);
        }
    }
}
