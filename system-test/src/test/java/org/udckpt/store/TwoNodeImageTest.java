package org.udckpt.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.ImageError;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.image.table.RecordTable;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;
import org.udckpt.system.cli.Udckpts;

/**
 * Checkpoints of two nodes. What is on them are two checkpoints of one process, before and after it has changed known
 * things of its own (system-test/src/test/c/anatomy.c), the other way round in the second: so pids, objects and
 * memories of both nodes have the same numbers.
 */
@Timeout(300)
class TwoNodeImageTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    Path directory;

    @Tag("slow")
    @Test
    void eachNodeIsReadAlone() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            captured(udckpts);
            ImageKey key = ImageKey.load(directory.resolve("key"));
            try (CheckpointReader one = CheckpointReader.open(directory.resolve("images/ckpt-0001"), key);
                    CheckpointReader two = CheckpointReader.open(directory.resolve("images/ckpt-0002"), key)) {
                NodeContents before = NodeContents.read(one.node(0));
                NodeContents after = NodeContents.read(two.node(0));
                TwoNodeImage several = new TwoNodeImage(directory.resolve("several"), key);
                Path first = several.write(TwoNodeImage.HOSTS, before.with(TwoNodeImage.state(0)),
                        after.as(1).with(TwoNodeImage.state(1)));
                several.write(TwoNodeImage.HOSTS, after.with(TwoNodeImage.state(0)),
                        before.as(1).with(TwoNodeImage.state(1)));
                alone(first, key, before, after.as(1));
                lies(new TwoNodeImage(directory.resolve("lies"), key), before.with(TwoNodeImage.state(0)),
                        after.as(1).with(TwoNodeImage.state(1)));
            }
            listed(udckpts);
            inspected(udckpts);
            chosen(udckpts);
            differing(udckpts);
            exported(udckpts);
            refused(udckpts);
            verified(udckpts);
        }
    }

    /** Two checkpoints of the program, which has changed in between. */
    private void captured(Udckpts udckpts) throws Exception {
        Udckpts.Running job = udckpts.start("run", "--name", "anatomy", "--dir", images(), "--",
                Udckpts.program("anatomy"), directory.resolve("finish").toString(),
                change().toString());
        job.awaitOutput("ready");
        good(udckpts, "checkpoint", "anatomy");
        Files.createFile(change());
        job.awaitOutput("changed");
        good(udckpts, "checkpoint", "anatomy");
        Files.createFile(directory.resolve("finish"));
        assertEquals(0, job.await(60).code());
    }

    private static void alone(Path checkpoint, ImageKey key, NodeContents... written) throws IOException {
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, key)) {
            assertEquals(List.of("a", "b"), reader.nodes().stream().map(NodeReader::host).toList());
            JobState job = StateTables.readJob(reader);
            for (int index = 0; index < written.length; index++) {
                NodeReader node = reader.node(index);
                NodeContents read = NodeContents.read(node);
                sameRows(ProcessState.class, written[index].image().processes(), read.image().processes());
                sameRows(ThreadState.class, written[index].image().threads(), read.image().threads());
                sameRows(Region.class, written[index].image().regions(), read.image().regions());
                sameRows(Descriptor.class, written[index].image().descriptors(), read.image().descriptors());
                sameRows(ImageTables.OBJECT_TABLE, written[index].image().objects(), read.image().objects());
                assertEquals(written[index].image().clocks(), read.image().clocks());
                assertEquals(written[index].ranks(), read.ranks());
                assertEquals(written[index].rows(), read.rows());
                sameMemory(written[index].memory(), read.memory());
                NodeState own = TwoNodeImage.state(index);
                assertEquals(own.namedRuntime(), read.state().namedRuntime());
                assertEquals(own.pmi(), read.state().pmi());
                assertEquals(own.addresses().endpoints(), read.state().addresses().endpoints());
                assertEquals(own.peers(), read.state().peers());
                assertEquals("rank " + index + " of 2", job.span(node).toString());
            }
            assertThrows(ImageError.Missing.class, () -> reader.node(2));
        }
    }

    private static <T> void sameRows(Class<T> type, List<? extends T> expected, List<? extends T> rows)
            throws IOException {
        sameRows(RecordTable.of(type), expected, rows);
    }

    private static <T> void sameRows(RecordTable<T> table, List<? extends T> expected, List<? extends T> rows) {
        assertArrayEquals(table.encode(List.copyOf(expected)), table.encode(List.copyOf(rows)));
    }

    private static void sameMemory(List<MemorySource> expected, List<MemorySource> memory) {
        assertEquals(expected.size(), memory.size());
        try (Arena arena = Arena.ofConfined()) {
            for (int i = 0; i < expected.size(); i++) {
                long[] extents = expected.get(i).extents();
                assertArrayEquals(extents, memory.get(i).extents());
                for (int e = 0; e < extents.length; e += 2) {
                    MemorySegment left = arena.allocate(extents[e + 1] - extents[e]);
                    MemorySegment right = arena.allocate(extents[e + 1] - extents[e]);
                    expected.get(i).read(extents[e], left);
                    memory.get(i).read(extents[e], right);
                    assertEquals(-1, left.mismatch(right), "memory " + i);
                }
            }
        }
    }

    /** What no agent writes: each is named with its file, node 1's. */
    private static void lies(TwoNodeImage several, NodeContents good, NodeContents other) throws IOException {
        RankRow row = other.ranks().getFirst();
        corrupt(several, "node-0001.ranks.arrow: row 0: pid " + (row.pid() + 1) + " is not a process of this node",
                good, other.withRanks(List.of(new RankRow(row.pid() + 1, 1, -1, false))));
        corrupt(several, "node-0001.ranks.arrow: row 0: rank 2 is not on this node, which has rank 1 of 2", good,
                other.withRanks(List.of(new RankRow(row.pid(), 2, -1, false))));
        corrupt(several, "node-0001.processes.arrow: row 0: rank 0 is not on this node, which has rank 1 of 2", good,
                other.as(0));
        List<MemoryRow> rows = new ArrayList<>(other.rows());
        rows.set(0, new MemoryRow(rows.getFirst().number(), rows.getFirst().process(), rows.getFirst().id() + 1000));
        corrupt(several, "node-0001.memory.arrow: row 0", good, other.withRows(rows));
        corrupt(several, "node-0001.pmi.arrow: rank 0 instead of rank 1", good, other.with(TwoNodeImage.state(0)));
        String hosts =
                assertThrows(ImageError.Corrupt.class, () -> read(several, several.write("a:1,b:1,c:1", good, other)))
                        .getMessage();
        assertTrue(hosts.contains("job.job.arrow: the job is on 3 hosts, but the image has 2 nodes"), hosts);
    }

    private static void corrupt(TwoNodeImage several, String words, NodeContents... nodes) {
        String message = assertThrows(ImageError.Corrupt.class,
                () -> read(several, several.write(TwoNodeImage.HOSTS, nodes)), words).getMessage();
        assertTrue(message.contains(words), message);
    }

    private static void read(TwoNodeImage several, Path checkpoint) throws IOException {
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, several.key())) {
            OpenImage.read(reader, StateTables.readJob(reader));
        }
    }

    private void listed(Udckpts udckpts) throws Exception {
        String text = good(udckpts, "list", several());
        assertTrue(text.lines().allMatch(line -> line.contains("  complete    2 ranks on 2 hosts  ")), text);
        JsonNode nodes = JSON.readTree(good(udckpts, "list", several(), "--json")).at("/checkpoints/0/nodes");
        assertEquals("[{\"node\":0,\"host\":\"a\"},{\"node\":1,\"host\":\"b\"}]", nodes.toString());
    }

    private void inspected(Udckpts udckpts) throws Exception {
        String text = good(udckpts, "inspect", several() + "/ckpt-0001");
        assertTrue(text.matches(
                "(?s).*\nnode 0     on a: rank 0; 1 processes, .* stored; suspend 1.5 ms, resume of rank 0 0.3 ms\n"
                        + "node 1     on b: rank 1; 1 processes, .*"),
                text);
        assertTrue(
                text.matches(
                        "(?s).*\nrank 0 on a \\(node 0\\): stopped in .*\nrank 1 on b \\(node 1\\): stopped in .*"),
                text);
        assertTrue(text.contains(
                "    UD the job's " + TwoNodeImage.state(1).addresses().endpoints().getFirst().virtual() + " is "),
                text);
        JsonNode all = JSON.readTree(good(udckpts, "inspect", several() + "/ckpt-0001", "--json"));
        assertEquals(
                "{\"node\":1,\"host\":\"b\",\"processes\":1,\"ranks\":[1],"
                        + "\"phases\":[{\"phase\":\"suspend\",\"ms\":1.5},"
                        + "{\"phase\":\"resume\",\"rank\":1,\"ms\":0.3}]}",
                all.at("/nodes/1").toString());
        assertEquals(List.of("suspend", "write", "commit"), all.path("phases").findValuesAsText("phase"),
                "the job's own");
        assertEquals(
                "[{\"call\":\"suspend\",\"round\":0,\"ms\":2.0,\"slowest\":{\"node\":1,\"host\":\"b\",\"ms\":1.5},"
                        + "\"levels_ms\":[2.0,1.9]},"
                        + "{\"call\":\"drain\",\"round\":1,\"ms\":0.7,\"levels_ms\":[0.7,0.6]}]",
                all.path("calls").toString());
        String phases = good(udckpts, "inspect", several() + "/ckpt-0001", "--phases");
        assertTrue(phases.matches(
                "(?s).*\nsuspend +2\\.0 ms +1\\.5 ms on b \\(node 1\\) +2\\.0 ms, 1\\.9 ms\ndrain 2 +0\\.7 ms +the "
                        + "lead +0\\.7 ms, 0\\.6 ms\n"
                        + "node +suspend +drain +snapshot +wait +resume +stop +write\n0 on a +1\\.5 ms +- +- +- "
                        + "+0\\.3 ms +1\\.8 ms +-\n1 on b .*"),
                phases);
        assertEquals(List.of("0", "1"), all.path("processes").findValuesAsText("rank"));
        assertEquals(List.of("a", "b"), all.path("processes").findValuesAsText("host"));
        assertEquals(all.at("/processes/0/pid"), all.at("/processes/1/pid"), "what this test is about");
        assertEquals(3, all.at("/processes/0/threads").size());
        assertEquals(4, all.at("/processes/1/threads").size(), "it has one more after the change");
        assertEquals(7, all.path("threads").asInt());
        assertEquals(List.of("100", "150"), positions(all));
        assertEquals(all.path("regions").asInt(),
                all.at("/processes/0/regions").size() + all.at("/processes/1/regions").size());
        long stored = all.at("/processes/0/stored_bytes").asLong() + all.at("/processes/1/stored_bytes").asLong();
        for (JsonNode shared : all.path("shared_memory")) {
            stored += shared.path("stored_bytes").asLong();
        }
        assertEquals(all.path("bytes").asLong(), stored, "every byte is accounted for");
        assertEquals(List.of("0", "1"), all.path("rank_details").findValuesAsText("node"));
        assertTrue(all.at("/rank_details/1/capture_ns/fork").asLong() > 0, all.path("rank_details").toString());
        assertEquals(List.of("0", "1"), all.path("addresses").findValuesAsText("rank"));
    }

    /** Of the file that the program maps, in each process. */
    private List<String> positions(JsonNode all) {
        List<String> positions = new ArrayList<>();
        for (JsonNode process : all.path("processes")) {
            process.path("descriptors").forEach(descriptor -> {
                if (descriptor.path("name").asText().equals(change() + ".map")) {
                    positions.add(descriptor.path("position").asText());
                }
            });
        }
        return positions;
    }

    private void chosen(Udckpts udckpts) throws Exception {
        String image = several() + "/ckpt-0001";
        String pid = JSON.readTree(good(udckpts, "inspect", image, "--json")).at("/processes/0/pid").asText();
        refused(udckpts, 64, "this pid belongs to 2 processes, " + pid + " (anatomy) on a (node 0), " + pid
                + " (anatomy) on b (node 1)", "inspect", image, "--pid", pid);
        refused(udckpts, 64, "needs --pid P", "inspect", image, "--node", "1");
        refused(udckpts, 66, "has no rank 2; there are 0, 1", "inspect", image, "--rank", "2");
        refused(udckpts, 66, "has no process 1; there are " + pid + " (anatomy) on a (node 0), ", "export-core", image,
                "--pid", "1");
        refused(udckpts, 66, "rank 1 of ckpt-0001 is not on node 0, but on b (node 1)", "inspect", image, "--rank", "1",
                "--pid", pid, "--node", "0");
        String moved = good(udckpts, "inspect", image, "--pid", pid, "--node", "1");
        assertTrue(moved.startsWith("rank 1, process " + pid + " (anatomy) on b (node 1) of ckpt-0001\n")
                && moved.contains(change() + ".map at 150"), moved);
        String rank = good(udckpts, "inspect", image, "--rank", "0");
        assertTrue(rank.startsWith("rank 0 on a (node 0) of ckpt-0001\n") && rank.contains(change() + ".map at 100"),
                rank);
    }

    private void differing(Udckpts udckpts) throws Exception {
        JsonNode diff =
                JSON.readTree(good(udckpts, "diff", several() + "/ckpt-0001", several() + "/ckpt-0002", "--json"));
        assertTrue(diff.path("same_job").asBoolean());
        assertEquals(2, diff.path("processes").size());
        assertEquals("{\"both\":37,\"changed\":7,\"added\":5,\"removed\":3}", mapped(diff.at("/processes/0")),
                "of node 0, which is changed in the newer one");
        assertEquals("{\"both\":37,\"changed\":7,\"added\":3,\"removed\":5}", mapped(diff.at("/processes/1")),
                "of node 1, which is changed in the older one");
        assertEquals(List.of("a", "b"), diff.path("processes").findValuesAsText("host"));
        assertEquals(List.of(1, 0),
                List.of(diff.at("/processes/0/new_threads").size(), diff.at("/processes/1/new_threads").size()));
        String text = good(udckpts, "diff", several() + "/ckpt-0001", several());
        assertTrue(text.matches(
                "(?s).*\nnode 0     on a: .*\nrank 0, process .* moved from 100 to 150.*\nnode 1     on b: .*\nrank "
                        + "1, process .* moved from 150 to 100.*"),
                text);
        JsonNode other =
                JSON.readTree(good(udckpts, "diff", images() + "/ckpt-0001", several() + "/ckpt-0001", "--json"));
        assertEquals(List.of("b"), other.path("new_processes").findValuesAsText("host"), "the older one has no node 1");
        assertEquals("{\"both\":40,\"changed\":0,\"added\":0,\"removed\":0}", mapped(other.at("/processes/0")));
    }

    private String mapped(JsonNode process) {
        for (JsonNode memory : process.path("memory")) {
            if (memory.path("name").asText().equals(change() + ".map")) {
                return memory.path("pages").toString();
            }
        }
        throw new AssertionError(process.toString());
    }

    /** The same core as of the checkpoint that the node was made of. */
    private void exported(Udckpts udckpts) throws Exception {
        JsonNode said = JSON.readTree(good(udckpts, "export-core", several() + "/ckpt-0001", "--rank", "1", "--output",
                directory.resolve("several.core").toString(), "--json"));
        assertEquals("1 b 1",
                said.path("node").asText() + " " + said.path("host").asText() + " " + said.path("rank").asText());
        good(udckpts, "export-core", images() + "/ckpt-0002", "--rank", "0", "--output",
                directory.resolve("one.core").toString());
        assertEquals(-1, Files.mismatch(directory.resolve("several.core"), directory.resolve("one.core")));
    }

    private void refused(Udckpts udckpts) throws Exception {
        refused(udckpts, 69, "the image is of a job on 2 hosts (a, b), which cannot be restarted on one host",
                "restart", several());
        refused(udckpts, 69, "of a job on 2 hosts, which bisect cannot run again; --search-only", "bisect", several(),
                "--rank", "0", "--when", "shared[0] == 'x'", "--batch");
        assertEquals("ckpt-0002\n",
                good(udckpts, "bisect", several(), "--rank", "0", "--when", "shared[0] == 'x'", "--search-only"));
    }

    private void verified(Udckpts udckpts) throws Exception {
        assertEquals(2, good(udckpts, "verify", several(), "--all").lines()
                .filter(line -> line.contains("files verified")).count());
        try (RandomAccessFile stripe = new RandomAccessFile(several() + "/ckpt-0002/node-0001.stripe-00", "rw")) {
            int first = stripe.read();
            stripe.seek(0);
            stripe.write(first ^ 1);
        }
        refused(udckpts, 65, "node-0001.stripe-00", "verify", several());
        String image = several() + "/ckpt-0002";
        good(udckpts, "export-core", image, "--rank", "0", "--output", directory.resolve("whole.core").toString());
        refused(udckpts, 65, "node-0001.stripe-00", "export-core", image, "--rank", "1", "--output",
                directory.resolve("damaged.core").toString());
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

    private String images() {
        return directory.resolve("images").toString();
    }

    private String several() {
        return directory.resolve("several").toString();
    }

    private Path change() {
        return directory.resolve("change");
    }
}
