package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
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

/** {@code udckpt remove} and {@code udckpt prune} beside a job that runs, that is restarted, and when it has ended. */
@Timeout(300)
class RemovalTest {
    private final Path directory = Files.createTempDirectory("udckpt-j");
    private final Path images = directory.resolve("images");
    private int asked;

    RemovalTest() throws IOException {}

    private static List<String> complete(Path tier) throws IOException {
        return !Files.isDirectory(tier) ? List.of() : new Catalogue(tier, Keys.user()).list().stream()
                .filter(entry -> entry.state() == Catalogue.State.COMPLETE).map(Catalogue.Entry::name).toList();
    }

    /** A command, which ends so; both its streams. */
    private String ends(RunningJob job, int code, String... words) throws Exception {
        String name = "asked-" + asked++;
        int ended = job.commands.run(name, 120, words);
        String printed = job.commands.printed(name);
        assertEquals(code, ended, () -> String.join(" ", words) + "\n" + printed);
        return printed;
    }

    private static void assertSays(String printed, String... words) {
        for (String word : words) {
            assertTrue(printed.contains(word), () -> "'" + word + "' is not in " + printed);
        }
    }

    @Tag("slow")
    @Test
    void whatAJobNeedsStays() throws Exception {
        try (RunningJob job = RunningJob.ballast(directory, images, 2, "--full-every", "8")) {
            for (int i = 0; i < 3; i++) {
                job.checkpoint();
            }
            String process = "job job (process " + job.agent.pid() + ")";
            assertSays(ends(job, 75, "remove", images + "/ckpt-0003"), images + "/ckpt-0003 is not removed: " + process,
                    "wait until this is done");
            assertSays(
                    ends(job, 64, "remove", images + "/ckpt-0001"), "ckpt-0003 are based on it", "remove those first");
            ends(job, 66, "remove", images + "/ckpt-0009");
            assertSays(ends(job, 64, "remove", images.toString()), "is not a checkpoint");
            assertSays(ends(job, 66, "remove", directory + "/none/ckpt-0001"), "no directory " + directory + "/none");
            assertSays(ends(job, 0, "prune", images.toString(), "--keep", "1"),
                    "ckpt-0002 stays: ckpt-0003 is based on it",
                    "ckpt-0001 stays: ckpt-0002, ckpt-0003 are based on it", "freed 0.0 KiB");
            job.checkpoint();
            job.assertUnhurt(RunningJob.RANKS);
            ends(job, 0, "checkpoint", "job", "--then", "kill");
            assertTrue(job.agent.waitFor(60, TimeUnit.SECONDS), job::text);
            restartedFromAnOlderOne(job);
            assertSays(ends(job, 0, "remove", "--with-base", "--dry-run", images + "/ckpt-0006"),
                    "would remove ckpt-0006", "would free");
            JsonNode json =
                    new ObjectMapper().readTree(json(job, "remove", "--with-base", "--json", images + "/ckpt-0006"));
            assertEquals("ckpt-0006", json.at("/removed/0/id").asText());
            assertTrue(json.path("freed_bytes").asLong() > 1 << 20, json.toString());
            assertEquals(1, json.path("schema").asInt());
            assertTrue(complete(images).contains("ckpt-0004") && !complete(images).contains("ckpt-0006"),
                    complete(images).toString());
            job.assertEnds(0);
        }
    }

    private String json(RunningJob job, String... words) throws Exception {
        assertEquals(0, job.commands.run("json", 60, words), job::text);
        return Files.readString(job.commands.output("json"));
    }

    /** It has none of its own yet: the one that it would go back to is held. */
    private void restartedFromAnOlderOne(RunningJob job) throws Exception {
        assertSays(ends(job, 64, "remove", images + "/ckpt-0004"), "ckpt-0005 is based on it");
        ends(job, 0, "remove", images + "/ckpt-0005");
        Process again = job.commands.start("again", "restart", images + "/ckpt-0004");
        job.await("the next incarnation",
                () -> job.commands.printed("again").contains("the ranks run") || !again.isAlive());
        assertSays(ends(job, 75, "remove", images + "/ckpt-0004"), "job job (process " + again.pid() + ")");
        ends(job, 0, "prune", "--keep", "1", images.toString());
        assertTrue(complete(images).contains("ckpt-0004"), complete(images).toString());
        assertEquals("ckpt-0006", job.checkpoint());
        assertSays(ends(job, 75, "remove", images + "/ckpt-0006"), "job job (process " + again.pid() + ")");
        Files.createFile(directory.resolve("finish"));
        assertTrue(again.waitFor(60, TimeUnit.SECONDS), job.commands.printed("again"));
        assertEquals(0, again.exitValue(), job.commands.printed("again"));
    }

    @Tag("slow")
    @Test
    void inAllTiers() throws Exception {
        Path fast = directory.resolve("fast");
        Path slow = directory.resolve("slow");
        String tiers = "fast=" + fast + ",slow=" + slow;
        try (RunningJob job = RunningJob.ballast(directory, fast, 2, "--tiers", tiers, "--keep-fast", "9")) {
            for (int i = 1; i <= 3; i++) {
                String id = job.checkpoint();
                job.await("its copy", () -> complete(slow).contains(id));
            }
            assertSays(ends(job, 75, "remove", tiers + "/ckpt-0003"), fast + "/ckpt-0003 is not removed");
            assertEquals(complete(fast), complete(slow), "nothing went from the other tier, either");
            assertSays(ends(job, 0, "remove", tiers + "/ckpt-0002"), "removed ckpt-0002 from fast",
                    "removed ckpt-0002 from slow");
            assertSays(ends(job, 0, "prune", tiers, "--keep", "1", "--older-than", "1h"), "freed 0.0 KiB");
            assertSays(ends(job, 64, "prune", tiers, "--keep", "0"), "--keep 0");
            assertSays(ends(job, 64, "prune", tiers, "--keep", "1", "--older-than", "soon"), "--older-than");
            assertSays(ends(job, 0, "prune", tiers, "--keep", "1", "--dry-run"), "would remove ckpt-0001 from fast",
                    "would remove ckpt-0001 from slow");
            assertEquals(List.of("ckpt-0001", "ckpt-0003"), complete(fast));
            assertSays(ends(job, 0, "prune", tiers, "--keep", "1"), "removed ckpt-0001 from fast",
                    "removed ckpt-0001 from slow");
            assertEquals(List.of("ckpt-0003"), complete(fast));
            assertEquals(List.of("ckpt-0003"), complete(slow));
            ends(job, 0, "verify", slow.toString());
            job.finish();
        }
    }
}
