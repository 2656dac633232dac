package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code udckpt restart --plan} of a job on one machine: what it says is what the restart does, and it does nothing
 * itself.
 */
@Timeout(300)
class RestartPlanTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path directory;

    @Tag("slow")
    @Test
    void itSaysWhatTheRestartDoes() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            String log = file("log");
            Udckpts.Running job = start(udckpts, "run", "--name", "first", "--dir", file("images"), "--hosts",
                    "a:1,b:1", "--", Udckpts.program("overrun"), "0", log,
                    file("finish"));
            job.awaitOutput("step 100");
            assertEquals(0, retried(udckpts, "checkpoint", "first", "--then", "kill").code(), job::text);
            job.await(30);
            long saved = Files.size(Path.of(log));
            Files.writeString(Path.of(log), "the future\n", java.nio.file.StandardOpenOption.APPEND);

            Map<String, Long> before = state();
            JsonNode plan = JSON.readTree(
                    good(udckpts, "restart", "--plan", "--json", "--hosts", "c:2", "--name", "second", file("images")));
            assertEquals(before, state(), "it changes nothing");
            assertEquals("second 1 1",
                    plan.path("job").asText() + " " + plan.path("life").asInt() + " " + plan.path("nodes").asInt());
            assertEquals(2, plan.path("moves").size(), plan.toString());
            for (int rank = 0; rank < 2; rank++) {
                JsonNode move = plan.path("moves").path(rank);
                assertEquals(rank + " 1 " + (rank == 0 ? "a" : "b") + " c soft0",
                        move.path("first_rank").asInt() + " " + move.path("ranks").asInt() + " "
                                + move.path("from").asText() + " " + move.path("to").asText() + " "
                                + move.path("device").asText());
                assertTrue(move.path("queue_pairs").asInt() > 0 && move.path("unit").isMissingNode(), plan.toString());
                assertNotEquals(move.path("old_lids"), move.path("new_lids"));
                assertEquals(1, move.path("new_lids").size(), plan.toString());
            }
            JsonNode changed = plan.at("/files/0");
            assertEquals(log + " " + Files.size(Path.of(log)),
                    changed.path("path").asText() + " " + changed.path("bytes_now").asLong(), plan.toString());
            assertTrue(changed.path("bytes_then").asLong() <= saved && plan.path("files").size() == 1, plan.toString());
            refusals(udckpts);

            Udckpts.Running second = start(udckpts, "restart", "--hosts", "c:2", "--name", "second", file("images"));
            second.await(() -> retried(udckpts, "status", "second").code() == 0);
            JsonNode endpoint =
                    JSON.readTree(good(udckpts, "status", "second", "--json")).at("/jobs/0/ranks/0/endpoints/0");
            assertEquals(plan.at("/moves/0/new_lids/0").asInt(), endpoint.at("/real/lid").asInt(), endpoint.toString());
            Files.createFile(directory.resolve("finish"));
            assertEquals(0, second.await(60).code(), second::text);
            String text = good(udckpts, "restart", "--plan", file("images"));
            assertTrue(text.contains("rank 0     stays on a") && text.contains("LID 0x") && text.contains(log + ": ")
                    && text.endsWith("nothing was started or changed\n"), text);
            damaged(udckpts);
        }
    }

    /** As the restart itself. */
    private void refusals(Udckpts udckpts) throws Exception {
        for (String[] plan : new String[][]{{"--plan"}, {}}) {
            refused(udckpts, 64, "has places for 3 ranks, but the image has 2", plan, "--hosts", "c:3");
            refused(udckpts, 66, "there is no /nonexistent", plan, "--map-path", "/x=/nonexistent");
            refused(udckpts, 64, "--move-host applies only to jobs on several hosts", plan, "--map", "a=b");
            refused(udckpts, 64, "--keep-together applies only to jobs on several hosts", plan, "--keep-together=no");
            refused(udckpts, 69, "is of a job on one host", plan, "--starter", "local");
        }
        refused(udckpts, 64, "--json needs --plan", new String[0], "--json");
        Path log = Path.of(file("log"));
        byte[] content = Files.readAllBytes(log);
        Files.delete(log);
        Files.createDirectory(log);
        refused(udckpts, 74, "is now a directory", new String[]{"--plan"});
        Files.delete(log);
        Files.write(log, content);
    }

    private void refused(Udckpts udckpts, int code, String words, String[] plan, String... options) throws Exception {
        List<String> all = new ArrayList<>(List.of("restart"));
        all.addAll(List.of(plan));
        all.addAll(List.of(options));
        all.add(file("images"));
        Udckpts.Result result = udckpts.run(all.toArray(String[]::new));
        assertEquals(code, result.code(), result.toString());
        assertTrue(result.errors().contains(words), result.toString());
    }

    private void damaged(Udckpts udckpts) throws Exception {
        try (Stream<Path> files = Files.list(Path.of(file("images"), "ckpt-0001"))) {
            Path table =
                    files.filter(each -> each.getFileName().toString().contains("regions")).findFirst().orElseThrow();
            try (RandomAccessFile bytes = new RandomAccessFile(table.toFile(), "rw")) {
                bytes.seek(bytes.length() / 2);
                int old = bytes.read();
                bytes.seek(bytes.length() / 2);
                bytes.write(old ^ 1);
            }
        }
        refused(udckpts, 65, "regions", new String[]{"--plan"});
    }

    private Map<String, Long> state() throws IOException {
        Map<String, Long> state = new TreeMap<>();
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.filter(Files::isRegularFile)
                    .filter(path -> !path.getFileName().toString().matches("(out|err)-\\d+")).toList()) {
                state.put(path.toString(), Files.getLastModifiedTime(path).toMillis() * 31 + Files.size(path));
            }
        }
        return state;
    }

    /** On a soft fabric of its own: LIDs that are free when a plan is made are so when the restart comes. */
    private static Udckpts.Running start(Udckpts udckpts, String... arguments) throws IOException {
        return udckpts.start(Map.of("UDCKPT_SOFT_NET", "127.93"), new java.io.File("/dev/null"), arguments);
    }

    private static String good(Udckpts udckpts, String... arguments) throws Exception {
        Udckpts.Result result = start(udckpts, arguments).await(120);
        assertEquals(0, result.code(), result.toString());
        return result.output();
    }

    /** A job's command socket is there a little after its first words. */
    private static Udckpts.Result retried(Udckpts udckpts, String... command) throws Exception {
        Udckpts.Result result = udckpts.run(command);
        for (int i = 0; i < 20 && result.code() == 66; i++) {
            result = udckpts.run(command);
        }
        return result;
    }

    private String file(String name) {
        return directory.resolve(name).toString();
    }
}
