package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The main job: an unmodified MPICH program goes on, incarnation after incarnation, on other LIDs and QPNs, to the same
 * answer.
 */
@Tag("slow")
@Timeout(500)
class ChainTest {
    private static final int GENERATIONS = 3; // a restart of a restarted job is what differs; MpiStressTest has ten
    private static final int LINES_PER_RUN = 4;
    private static final String[] SOLVE = {"--grid", "8", "--solves", "60", "--iterations", "100"};
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path directory;

    @Test
    void generationsGiveTheSameAnswer() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            List<String> whole = udckpts.start(run("whole")).await(200).output().lines().toList();
            assertTrue(whole.getLast().startsWith("checksum "), whole.toString());
            Files.createFile(directory.resolve("brake"));
            Udckpts.Running run = udckpts.start(run("chain"));
            Set<Integer> lids = new HashSet<>();
            Set<Integer> virtual = new HashSet<>();
            for (int generation = 0; generation < GENERATIONS; generation++) {
                awaitLines(run);
                collect(udckpts, lids, virtual);
                Udckpts.Result checkpoint = udckpts.run("checkpoint", "chain", "--then", "kill");
                assertEquals("ckpt-%04d\n".formatted(generation + 1), checkpoint.output(),
                        checkpoint + run.soFar().errors());
                assertTrue(checkpoint.errors().contains("suspend"), checkpoint.errors());
                assertEquals(0, run.await(30).code(), "a job ended after its checkpoint is done");
                run = udckpts.start("restart", directory.resolve("images").toString());
            }
            Files.delete(directory.resolve("brake"));
            Udckpts.Result end = run.await(200);
            assertEquals(0, end.code(), end.toString());
            List<String> last = end.output().lines().toList();
            assertFalse(last.isEmpty());
            assertEquals(whole.subList(whole.size() - last.size(), whole.size()), last, "bit for bit");
            assertEquals(2 * GENERATIONS, lids.size(), "two hosts, each incarnation on LIDs of its own: " + lids);
            assertEquals(2, virtual.size(), "the job saw the same two LIDs in all incarnations");
            assertListed(udckpts);
        }
    }

    private String[] run(String name) {
        List<String> words = new ArrayList<>(List.of("run", "-n", "4", "--hosts", "a:2,b:2", "--name", name, "--dir",
                directory.resolve("images").toString(), "--", Udckpts.program("stencil_cg")));
        words.addAll(List.of(SOLVE));
        words.addAll(List.of("--brake", directory.resolve("brake").toString()));
        return words.toArray(String[]::new);
    }

    private static void awaitLines(Udckpts.Running run) throws Exception {
        while (run.soFar().output().lines().count() < LINES_PER_RUN) {
            assertTrue(run.process.isAlive(), run.soFar().toString());
            Thread.sleep(20);
        }
    }

    private static void collect(Udckpts udckpts, Set<Integer> lids, Set<Integer> virtual) throws Exception {
        JsonNode job = JSON.readTree(udckpts.run("status", "chain", "--json").output()).at("/jobs/0");
        assertEquals("running", job.path("state").asText());
        assertEquals(4, job.path("ranks").size());
        for (JsonNode rank : job.path("ranks")) {
            assertNotEquals(0, rank.at("/counters/ud_sends").asLong(), rank.toString());
            for (JsonNode endpoint : rank.path("endpoints")) {
                lids.add(endpoint.at("/real/lid").asInt());
                virtual.add(endpoint.at("/virtual/lid").asInt());
            }
        }
    }

    private void assertListed(Udckpts udckpts) throws Exception {
        String images = directory.resolve("images").toString();
        JsonNode list = JSON.readTree(udckpts.run("list", images, "--json").output());
        assertEquals(1, list.path("schema").asInt());
        assertEquals(GENERATIONS, list.path("checkpoints").size());
        for (JsonNode checkpoint : list.path("checkpoints")) {
            assertEquals("complete", checkpoint.path("state").asText());
            assertEquals(4, checkpoint.path("ranks").asInt());
            assertTrue(checkpoint.at("/stop_ms/max").asDouble() > 0);
            assertTrue(checkpoint.path("verified_at").isNull(), "nobody has looked yet");
        }
        Udckpts.Result verified = udckpts.run("verify", images + "/ckpt-0003");
        assertEquals(0, verified.code(), verified.toString());
        assertFalse(JSON.readTree(udckpts.run("list", images, "--json").output()).at("/checkpoints/2/verified_at")
                .isNull());
        List<String> lines = udckpts.run("list", images).output().lines().toList();
        assertTrue(lines.get(2).contains("  verified ") && lines.get(1).endsWith("not verified"), lines.toString());
        JsonNode inspected = JSON.readTree(udckpts.run("inspect", images, "--json").output());
        assertEquals(GENERATIONS - 1, inspected.path("generation").asInt());
        assertEquals(4, inspected.path("addresses").size());
    }
}
