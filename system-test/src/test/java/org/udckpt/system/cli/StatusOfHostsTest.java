package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What udckpt status says where a job on several hosts was started, and what it says on those. */
@Tag("slow")
@Timeout(180)
class StatusOfHostsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> COUNTERS = List.of("ud_sends", "ud_rewrites", "ud_receives", "ud_translations",
            "cache_misses", "table_misses", "unknown_peers", "ah_created", "refused",
            "rc_sends");

    @TempDir
    Path directory;

    @Test
    void theLeadTellsWhatItsUnitsTell() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Running job = udckpts.start(Map.of("UDCKPT_REMOTE", script()), new File("/dev/null"), "run",
                    "--starter", "local", "--hosts", "a:2,b:2", "--name", "wide",
                    "--dir", directory.resolve("images").toString(), "--", Udckpts.program("stencil_cg"), "--grid", "8",
                    "--solves", "100000");
            job.awaitOutput("iteration");
            // an agent's first answer takes its time on a busy machine
            job.await(() -> asked(udckpts).path("silent").isEmpty());
            JsonNode wide = asked(udckpts);
            assertEquals(List.of("a", "b"), wide.path("units").findValuesAsText("name"), wide.toString());
            assertEquals(4, wide.path("ranks").size(), wide.toString());
            for (int number = 0; number < 4; number++) {
                String host = number < 2 ? "a" : "b";
                JsonNode rank = wide.path("ranks").path(number);
                JsonNode own = status(udckpts, "wide." + host).path("ranks").path(number % 2);
                assertEquals(number + " " + host, rank.path("rank").asInt() + " " + rank.path("host").asText(),
                        rank.toString());
                for (String field : List.of("rank", "pid", "host", "alive", "endpoints")) {
                    assertEquals(own.path(field), rank.path(field), field + " of " + own + " and " + rank);
                }
                assertNotEquals(0, rank.path("endpoints").size(), rank.toString());
                assertEquals("UD", rank.at("/endpoints/0/transport").asText(), rank.toString());
                assertEquals(Files.readString(Path.of("/proc", rank.path("pid").asText(), "comm")).strip(),
                        "stencil_cg");
                for (String counter : COUNTERS) { // asked for later, by the unit
                    assertTrue(rank.path("counters").has(counter) && own.path("counters").path(counter).asLong()
                            >= rank.path("counters").path(counter).asLong(), rank + " " + own);
                }
                assertNotEquals(0, rank.at("/counters/ud_rewrites").asLong(), rank.toString());
            }
            String text = udckpts.run("status", "wide").output();
            assertEquals(4, text.lines()
                    .filter(line -> line.matches(" {2}rank \\d +pid \\d+ +host [ab] .* rewritten [1-9].*")).count(),
                    text);
            assertTrue(text.lines().anyMatch(line -> line.startsWith("    UD  job sees LID ")), text);
            silent(udckpts, job);
            assertEquals(0, udckpts.run("checkpoint", "wide", "--then", "kill").code(), job::text);
            assertEquals(0, job.await(60).code(), job::text);
            assertFalse(job.soFar().errors().contains("table"), job::text);
        }
    }

    /** A udckpt of the classes under test, for the starter. */
    private String script() throws Exception {
        List<String> words = new ArrayList<>(ScriptedJava.command("agent"));
        words.addAll(List.of("-Xmx256m", "org.udckpt.cli.Main"));
        Path file = Files.writeString(directory.resolve("udckpt"), "#!/bin/sh\nexec "
                + words.stream().map(word -> "'" + word + "'").collect(Collectors.joining(" ")) + " \"$@\"\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------")).toString();
    }

    /** An agent that stands still is named, and nobody waits for it for long. */
    private void silent(Udckpts udckpts, Udckpts.Running job) throws Exception {
        ProcessHandle agent = ScriptedJava.below(job.process, "agent", "--unit", "1");
        signal("STOP", agent);
        Udckpts.Result result = udckpts.run("status", "wide", "--json");
        signal("CONT", agent);
        JsonNode wide = JSON.readTree(result.output()).at("/jobs/0");
        assertEquals("b", wide.at("/silent/0").asText(), result.toString());
        assertEquals(1, wide.path("silent").size(), result.toString());
        assertTrue(wide.at("/ranks/1").has("pid") && !wide.at("/ranks/2").has("pid")
                && wide.at("/ranks/2/host").asText().equals("b"), result.toString());
        assertTrue(result.errors().contains("the agent of wide.b on host b did not answer in time"), result.toString());
        job.await(() -> asked(udckpts).path("silent").isEmpty());
    }

    private static void signal(String name, ProcessHandle process) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor());
    }

    private static JsonNode asked(Udckpts udckpts) throws Exception {
        return status(udckpts, "wide");
    }

    private static JsonNode status(Udckpts udckpts, String name) throws Exception {
        return JSON.readTree(udckpts.run("status", name, "--json").output()).at("/jobs/0");
    }
}
