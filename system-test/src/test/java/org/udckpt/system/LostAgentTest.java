package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.system.cli.ScriptedJava;

/** An agent that is killed takes its ranks with it, and leaves nothing in the directory for running jobs. */
@Timeout(180)
class LostAgentTest {
    @TempDir
    Path temp;

    @Tag("slow")
    @Test
    void nothingOfItsUnitIsLeft() throws Exception {
        try (LocalAgents job = new LocalAgents(temp, temp.resolve("err").toFile())) {
            Path unit = job.runtime().resolveSibling("job.a");
            assertTrue(Files.exists(unit.resolve("counters")), () -> unit.toString());
            ScriptedJava.below(job.lead, "agent", "--unit", "0").destroyForcibly();
            assertEquals(74, job.end());
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while (Files.exists(unit)) {
                assertTrue(System.nanoTime() < end, "its directory is still there");
                Thread.sleep(20);
            }
        }
    }
}
