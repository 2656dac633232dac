package org.udckpt.system.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.system.cli.Udckpts;

/** Ranks that are process 1 of pid namespaces of their own, as sandboxes make them: two processes with one number. */
@Timeout(300)
class SandboxedRanksTest {
    private static final int CODE = 3;
    private static final int RANKS = 2;

    @TempDir
    Path directory;

    @Test
    void goOnWithTheirVerbs() throws Exception {
        Process may = new ProcessBuilder("unshare", "-Urpf", "--mount-proc", "true").start();
        assumeTrue(may.waitFor() == 0, "no user and pid namespaces here");
        try (Udckpts udckpts = new Udckpts(directory)) {
            String images = directory.resolve("images").toString();
            Path go = directory.resolve("go");
            Udckpts.Running first = udckpts.start(Map.of(), new File("/dev/null"), "run", "-n",
                    Integer.toString(RANKS), "--name", "boxes", "--dir", images, "--", "unshare", "-Urpf",
                    "--mount-proc", Udckpts.nativeFile("programs/ends_at_once").toString(), go.toString(),
                    Integer.toString(CODE));
            while (first.soFar().output().lines().filter("ready"::equals).count() < RANKS) {
                assertTrue(first.isAlive(), first.soFar().toString());
                Thread.sleep(20);
            }
            Udckpts.Result checkpoint = udckpts.run("checkpoint", "boxes", "--then", "kill");
            assertEquals(0, checkpoint.code(), checkpoint.toString());
            assertEquals(0, first.await(120).code(), first.soFar().toString());
            Files.createFile(go);
            Udckpts.Result end = udckpts.start("restart", images).await(120);
            assertEquals(CODE, end.code(), end.toString());
        }
    }
}
