package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code inspect}, {@code diff} and {@code verify} of a job whose insides, and whose changes between two checkpoints,
 * are known.
 */
@Tag("slow")
@Timeout(300)
class LookingTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path directory;

    @Test
    void twoCheckpoints() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Running job = udckpts.start("run", "--name", "anatomy", "--dir", images(), "--",
                    Udckpts.program("anatomy"), directory.resolve("finish").toString(),
                    change().toString());
            job.awaitOutput("ready");
            assertEquals(0, udckpts.run("checkpoint", "anatomy").code());
            Files.createFile(change());
            job.awaitOutput("changed");
            assertEquals(0, udckpts.run("checkpoint", "anatomy").code());
            Files.createFile(directory.resolve("finish"));
            inspected(udckpts);
            differing(udckpts);
            tables(udckpts);
            verified(udckpts);
        }
    }

    /** docs/user/inspecting.md joins them so. */
    private void tables(Udckpts udckpts) throws Exception {
        ArrowTables tables = ArrowTables.of(Path.of(images(), "ckpt-0002"));
        JsonNode inspected = JSON.readTree(good(udckpts, "inspect", images(), "--json"));
        assertEquals(inspected.path("regions").asInt(), tables.table("regions").size());
        long pid = ArrowTables.number(tables.table("processes").getFirst(), "pid");
        long number = tables.table("memory").stream()
                .filter(row -> (boolean) row.get("process") && ArrowTables.number(row, "id") == pid)
                .map(row -> ArrowTables.number(row, "number")).findFirst().orElseThrow();
        Map<String, Object> mapped = tables.table("regions").stream()
                .filter(row -> row.get("path").toString().equals(change() + ".map")).findFirst().orElseThrow();
        long stored = tables.table("chunks").stream().filter(row -> ArrowTables.number(row, "process") == number)
                .mapToLong(row -> Math.min(ArrowTables.number(row, "address") + ArrowTables.number(row, "length"),
                        ArrowTables.number(mapped, "end"))
                        - Math.max(ArrowTables.number(row, "address"), ArrowTables.number(mapped, "start")))
                .filter(overlap -> overlap > 0).sum();
        assertEquals(
                find(inspected.at("/processes/0/regions"), "path", change() + ".map").path("stored_bytes").asLong(),
                stored);
        assertEquals(
                List.of("rank", "pid", "processes", "threads", "stopNs", "stateNs", "objectsNs", "forkNs", "resumeNs",
                        "totalNs"),
                List.copyOf(tables.table("rank-phases").getFirst().keySet()));
        long object = tables.table("descriptors").stream().filter(row -> ArrowTables.number(row, "fd") == 0)
                .map(row -> ArrowTables.number(row, "object")).findFirst().orElseThrow();
        assertTrue(tables.table("objects").stream()
                .anyMatch(row -> ArrowTables.number(row, "id") == object && row.get("record") != null));
    }

    private void inspected(Udckpts udckpts) throws Exception {
        JsonNode all = JSON.readTree(good(udckpts, "inspect", images(), "--json"));
        assertEquals(1, all.path("schema").asInt());
        JsonNode process = all.at("/processes/0");
        assertEquals(4, process.path("threads").size(), "reader, spinner, sleeper, main");
        JsonNode heap = find(process.path("memory"), "kind", "heap");
        assertTrue(heap.path("stored_bytes").asLong() > 0
                && heap.path("bytes").asLong() >= heap.path("stored_bytes").asLong(), heap.toString());
        JsonNode file = find(process.path("descriptors"), "name", change() + ".map");
        assertEquals("OpenFile 150", file.path("kind").asText() + " " + file.path("position").asLong());
        long stored = 0;
        for (JsonNode region : process.path("regions")) {
            stored += region.path("stored_bytes").asLong();
        }
        assertEquals(process.path("stored_bytes").asLong(), stored);
        for (JsonNode shared : all.path("shared_memory")) {
            stored += shared.path("stored_bytes").asLong();
        }
        assertEquals(all.path("bytes").asLong(), stored, "every byte is accounted for");
        JsonNode writes = all.at("/write_latency/0");
        assertTrue(
                writes.path("writes").asLong() > 0
                        && writes.at("/percentiles_ns/50").asLong() <= writes.at("/percentiles_ns/99.9").asLong()
                        && writes.at("/percentiles_ns/99.9").asLong() <= writes.path("max_ns").asLong(),
                writes.toString());
        assertTrue(all.at("/rank_details/0/capture_ns/fork").asLong() > 0, all.path("rank_details").toString());
        String text = good(udckpts, "inspect", images());
        assertTrue(text.contains("ckpt-0002 of job anatomy, incarnation 0")
                && text.contains("1 EventFd") == all.at("/objects/EventFd").isNumber(), text);
        String rank = good(udckpts, "inspect", images() + "/ckpt-0001", "--rank", "0");
        assertTrue(rank.contains(change() + ".map at 100") && rank.contains("in system call 0")
                && rank.contains("[stack]"), rank);
        refused(udckpts, 66, "has no rank 1; there is 0", "inspect", images(), "--rank", "1");
    }

    private void differing(Udckpts udckpts) throws Exception {
        JsonNode diff =
                JSON.readTree(good(udckpts, "diff", images() + "/ckpt-0001", images() + "/ckpt-0002", "--json"));
        assertTrue(diff.path("same_job").asBoolean());
        JsonNode process = diff.at("/processes/0");
        JsonNode pages = find(process.path("memory"), "name", change() + ".map").path("pages");
        assertEquals("{\"both\":37,\"changed\":7,\"added\":5,\"removed\":3}", pages.toString());
        assertEquals(1, process.path("new_threads").size());
        assertEquals(0, process.path("gone_threads").size());
        JsonNode moved = find(process.path("descriptors"), "change", "moved");
        assertEquals("100 150", moved.at("/older/position").asLong() + " " + moved.at("/newer/position").asLong());
        assertEquals("/dev/zero", find(process.path("descriptors"), "change", "opened").at("/newer/name").asText());
        assertEquals("{\"both\":1,\"changed\":0,\"added\":1,\"removed\":0}",
                find(diff.path("shared_memory"), "older_bytes", "16384").path("pages").toString());
        assertEquals("{\"both\":0,\"changed\":0,\"added\":1,\"removed\":0}",
                find(diff.path("shared_memory"), "change", "new").path("pages").toString());
        String text = good(udckpts, "diff", images() + "/ckpt-0001", images());
        assertTrue(text.matches("(?s).*descriptor \\d+ moved from 100 to 150.*") && text.contains(" later"), text);
        JsonNode same = JSON.readTree(good(udckpts, "diff", images(), images(), "--json"));
        JsonNode none = same.path("pages");
        assertEquals(0, none.path("changed").asLong() + none.path("added").asLong() + none.path("removed").asLong(),
                none.toString());
        assertTrue(same.at("/processes/0/regions").isEmpty() && same.at("/processes/0/descriptors").isEmpty(),
                same.toString());
        refused(udckpts, 66, "ckpt-0009", "diff", images(), images() + "/ckpt-0009");
    }

    private void verified(Udckpts udckpts) throws Exception {
        JsonNode both = JSON.readTree(good(udckpts, "verify", images(), "--all", "--json")).path("checkpoints");
        assertEquals(2, both.size());
        for (JsonNode one : both) {
            assertTrue(one.path("verified").asBoolean() && one.path("bytes_per_second").asLong() > 0, both.toString());
        }
        Udckpts.Result lines = udckpts.run("verify", images(), "--log-json");
        JsonNode progress = JSON.readTree(lines.errors().lines().toList().getLast());
        assertEquals("progress", progress.path("level").asText(), lines.toString());
        assertEquals(progress.path("bytes").asLong(), progress.path("bytes_done").asLong());
        try (RandomAccessFile stripe = new RandomAccessFile(images() + "/ckpt-0001/node-0000.stripe-00", "rw")) {
            int first = stripe.read();
            stripe.seek(0);
            stripe.write(first ^ 1);
        }
        Udckpts.Result damaged = udckpts.run("verify", images(), "--all", "--json");
        assertEquals(65, damaged.code(), damaged.toString());
        JsonNode list = JSON.readTree(damaged.output()).path("checkpoints");
        assertFalse(list.at("/0/verified").asBoolean());
        assertTrue(list.at("/0/problem").asText().contains("stripe-00") && list.at("/1/verified").asBoolean(),
                list.toString());
        refused(udckpts, 65, "stripe-00", "diff", images() + "/ckpt-0001", images());
    }

    private static String good(Udckpts udckpts, String... arguments) throws Exception {
        Udckpts.Result result = udckpts.run(arguments);
        assertEquals(0, result.code(), result.toString());
        return result.output();
    }

    private static void refused(Udckpts udckpts, int code, String words, String... arguments) throws Exception {
        Udckpts.Result result = udckpts.run(arguments);
        assertEquals(code, result.code(), result.toString());
        assertTrue(result.errors().contains(words), result.toString());
    }

    /** The only one with that value. */
    private static JsonNode find(JsonNode list, String field, String value) {
        List<JsonNode> found = new ArrayList<>();
        list.forEach(item -> {
            if (item.path(field).asText().equals(value)) {
                found.add(item);
            }
        });
        assertEquals(1, found.size(), () -> field + " " + value + " in " + list);
        return found.getFirst();
    }

    private String images() {
        return directory.resolve("images").toString();
    }

    private Path change() {
        return directory.resolve("change");
    }
}
