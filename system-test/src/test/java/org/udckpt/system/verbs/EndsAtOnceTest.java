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

/**
 * A job that was checkpointed at its very end: a restarted process runs before its verbs are there again, and may end
 * before that. Its code is the restart's.
 */
@Tag("slow")
@Timeout(300)
class EndsAtOnceTest {
    private static final int INCARNATIONS = 4;

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"1,0", "1,3", "2,0", "2,3"})
    void itsCodeIsTheJobs(int ranks, int code) throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            String images = directory.resolve("images").toString();
            Path go = directory.resolve("go");
            Udckpts.Running first = udckpts.start(Map.of(), new File("/dev/null"), "run", "-n", Integer.toString(ranks),
                    "--name", "end", "--dir", images, "--",
                    Udckpts.nativeFile("programs/ends_at_once").toString(), go.toString(), Integer.toString(code));
            while (first.soFar().output().lines().filter("ready"::equals).count() < ranks) {
                assertTrue(first.isAlive(), first.soFar().toString());
                Thread.sleep(20);
            }
            Udckpts.Result checkpoint = udckpts.run("checkpoint", "end", "--then", "kill");
            assertEquals(0, checkpoint.code(), checkpoint.toString());
            assertEquals(0, first.await(120).code(), first.soFar().toString());
            Files.createFile(go);
            for (int incarnation = 0; incarnation < INCARNATIONS; incarnation++) {
                Udckpts.Result end = udckpts.start("restart", images).await(120);
                assertEquals(code, end.code(), end.toString());
            }
        }
    }
}
