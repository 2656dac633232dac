package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.store.Keys;

/** A job whose checkpoints are written to one directory and copied to another. */
@Timeout(240)
class TiersTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Path directory = Files.createTempDirectory("udckpt-j");
    private final Path fast = directory.resolve("fast");
    private final Path slow = directory.resolve("slow");
    private final String tiers = "fast=" + fast + ",slow=" + slow;

    TiersTest() throws IOException {}

    private static List<String> complete(Path tier) throws IOException {
        return !Files.isDirectory(tier) ? List.of() : new Catalogue(tier, Keys.user()).list().stream()
                .filter(entry -> entry.state() == Catalogue.State.COMPLETE).map(Catalogue.Entry::name).toList();
    }

    /** Checkpoint, copy, kill, loss of the fast tier, restart from what is left, and on with both tiers. */
    @Tag("slow")
    @Test
    void theFastTierMayBeLost() throws Exception {
        try (RunningJob job = RunningJob.ballast(directory, fast, 4, "--tiers", tiers)) {
            assertEquals("ckpt-0001", job.checkpoint());
            job.await("the first copy", () -> complete(slow).equals(List.of("ckpt-0001")));
            assertEquals("ckpt-0002", job.checkpoint());
            job.await("the second copy, and the end of the first image on fast",
                    () -> complete(slow).size() == 2 && complete(fast).equals(List.of("ckpt-0002")));
            assertList(job);
            assertEquals(0, job.commands.run("checkpoint", 60, "checkpoint", "job", "--then", "kill"), job::text);
            assertTrue(job.agent.waitFor(60, TimeUnit.SECONDS), job::text);
            assertEquals(List.of("ckpt-0001", "ckpt-0002", "ckpt-0003"), complete(slow),
                    "the end waits for the last copy\n" + job.text());
            new ProcessBuilder("rm", "-rf", fast.toString()).start().waitFor();
            Process again = job.commands.start("again", "restart", tiers);
            job.await("the next incarnation",
                    () -> Files.exists(job.runtime().resolve("command.sock")) && again.isAlive() || !again.isAlive());
            assertEquals("ckpt-0004", job.checkpoint(), job.commands.printed("again"));
            job.await("its copy", () -> complete(slow).contains("ckpt-0004"));
            Files.createFile(directory.resolve("finish"));
            assertTrue(again.waitFor(60, TimeUnit.SECONDS), job.commands.printed("again"));
            assertEquals(0, again.exitValue(), job.commands.printed("again"));
            assertTrue(job.commands.printed("again").contains("PASS"), job.commands.printed("again"));
            job.assertEnds(0);
        }
    }

    private void assertList(RunningJob job) throws Exception {
        assertEquals(0, job.commands.run("list", 60, "list", tiers, "--json"), () -> job.text());
        JsonNode list = JSON.readTree(job.commands.output("list").toFile()).path("checkpoints");
        assertEquals("{\"slow\":\"complete\"}", list.get(0).path("tiers").toString());
        assertEquals("{\"fast\":\"complete\",\"slow\":\"complete\"}", list.get(1).path("tiers").toString());
        assertEquals(0, job.commands.run("lines", 60, "list", tiers), () -> job.text());
        assertTrue(job.commands.printed("lines").contains("  in fast, slow"), job.commands.printed("lines"));
        assertEquals(0, job.commands.run("verify", 60, "verify", tiers + "/ckpt-0001"), job.commands.printed("lines"));
        assertEquals(0, job.commands.run("inspect", 60, "inspect", slow.toString()), job.commands.printed("lines"));
        assertEquals(66, job.commands.run("verify", 60, "verify", tiers + "/ckpt-0009"), job.commands.printed("lines"));
    }

    @Test
    void aFailingSlowTierHurtsNobody() throws Exception {
        try (RunningJob job = RunningJob.ballast(directory, fast, 2, "--tiers", tiers)) {
            Files.writeString(slow, "in the way");
            assertEquals("ckpt-0001", job.checkpoint());
            job.await("the report", () -> job.errors().contains("copying ckpt-0001 to " + slow));
            assertTrue(job.errors().contains("the job goes on"), job::text);
            assertEquals("ckpt-0002", job.checkpoint());
            // else it may still be copied below
            job.await("the second report", () -> job.errors().contains("copying ckpt-0002 to " + slow));
            job.assertUnhurt(RunningJob.RANKS);
            assertFalse(job.status().at("/drain/problem").asText().isEmpty(), job.status().toString());
            assertEquals(List.of("ckpt-0001", "ckpt-0002"), complete(fast));
            Files.delete(slow);
            assertEquals("ckpt-0003", job.checkpoint());
            job.await("the copy", () -> complete(slow).equals(List.of("ckpt-0003")));
            job.finish();
        }
    }
}
