package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.hosts.HostLab;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.store.JobState;
import org.udckpt.store.Keys;
import org.udckpt.store.NodeState;
import org.udckpt.store.StateTables;

/** A real MPI job on several hosts: checkpointed there, killed with its hosts, restarted on others. */
@Timeout(300)
class SeveralHostsTest {
    private static final int SECONDS = 120;

    @BeforeEach
    void possible() {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
    }

    /** What a solver on these ranks prints where nothing happens to it; from now on solvers are held. */
    private static List<String> alone(SeveralHosts hosts, String ranks) throws Exception {
        assertEquals(0, hosts.end("alone", hosts.command("alone", solver(hosts, "run", "-n", ranks)), SECONDS),
                () -> hosts.text("alone"));
        hosts.hold();
        return hosts.lines("alone");
    }

    private static String[] solver(SeveralHosts hosts, String... options) {
        return words(options, hosts.solver("programs/stencil_cg").toArray(String[]::new));
    }

    private static String[] words(String[] options, String[] more) {
        return java.util.stream.Stream.of(options, more).flatMap(java.util.Arrays::stream).toArray(String[]::new);
    }

    /** Each host has a disk of its own, which goes with it. */
    @Tag("slow")
    @Test
    void eightRanksOfFourHostsGoOnOnFourOthersAndOnOne() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(9)) {
            String images = hosts.directory.resolve("images").toString(),
                    tiers = "local=" + hosts.disks().resolve("ckpt") + ",slow=" + images;
            List<String> whole = alone(hosts, "8");
            Process first = hosts.several("first", "run",
                    solver(hosts, "--name", "job", "--tiers", tiers, "--hosts", hosts.hosts(2, 2, 3, 4, 5)));
            hosts.await("the job's output", "first", () -> hosts.output("first").contains("iteration"));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("checkpoint") + hosts.text("first"));
            assertTrue(Files.exists(hosts.directory.resolve("host5/ckpt/job/node-0003/ckpt-0001/node-0003.stripe-00")),
                    () -> hosts.text("first"));
            hosts.await("the copies of all hosts", "first", () -> Files.exists(Path.of(images, "ckpt-0001/manifest")));
            assertPeers(Path.of(images));
            hosts.crash(2, 3, 4, 5);
            assertEquals(74, hosts.end("first", first, SECONDS), () -> hosts.text("first"));

            Process second = hosts.several("second", "restart", "--hosts", hosts.hosts(0, 6, 7, 8, 9), tiers);
            hosts.await("the job's output", "second", () -> hosts.output("second").contains("iteration"));
            hosts.await("what the restart took", "second",
                    () -> hosts.errors("second").matches(
                            "(?s).*the ranks run: files .*, start .* \\(slowest .*, exchange .*, connect .*, open .*; "
                                    + "on .*: namespaces .*verbs .*"));
            for (int number : new int[]{6, 7, 8, 9}) {
                assertTrue(hosts.programs(number).contains("stencil_cg"), hosts.programs(number).toString());
            }
            assertEquals(0, hosts.run("again", SECONDS, "checkpoint", "job", "--then", "kill"),
                    () -> hosts.text("again") + hosts.text("second"));
            hosts.assertEnds(0, "second", second, SECONDS);
            assertEquals(Set.of(), hosts.programs(7));

            hosts.release();
            Process third = hosts.several("third", "restart", "--hosts", hosts.hosts(0, 3), images);
            hosts.assertEnds(0, "third", third, SECONDS);
            List<String> end = hosts.lines("third");
            assertEquals(whole.subList(whole.size() - end.size(), whole.size()), end);
            assertTrue(end.getLast().startsWith("checksum"), end.getLast());
            try (var left = Files.list(hosts.directory.resolve("run"))) {
                assertEquals(List.of(), left.toList());
            }
            hosts.good();
        }
    }

    /** Each host's ranks have talked to some of the others', and the image knows whom they are to know again. */
    private static void assertPeers(Path images) throws Exception {
        try (CheckpointReader reader = CheckpointReader.open(images.resolve("ckpt-0001"), Keys.user())) {
            JobState job = StateTables.readJob(reader);
            for (NodeReader node : reader.nodes()) {
                NodeState state = StateTables.readNode(node, job);
                List<Long> own =
                        state.addresses().endpoints().stream().map(endpoint -> endpoint.virtual().key()).toList();
                assertTrue(!state.peers().isEmpty() && state.peers().stream().noneMatch(own::contains),
                        state.peers() + ", own " + own);
            }
        }
    }

    @Tag("slow")
    @Test
    void timesAndCountsOfAllHostsAreSeenAtTheLead() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(4)) {
            Path metrics = hosts.directory.resolve("metrics.txt");
            String[] options = {"--name", "job", "--dir", hosts.directory.resolve("images").toString(), "--hosts",
                    hosts.hosts(1, 2, 3, 4), "--metrics", metrics.toString(),
                    "--max-rate", "8M", "--buffer", "4M"};
            String[] program = {"--", CommandLine.artifact("programs/stencil_cg").toString(), "--grid", "8", "--solves",
                    "100000", "--ballast", "24"};
            Process job = hosts.several("job", "run", words(options, program));
            hosts.await("the job's output", "job", () -> hosts.output("job").contains("iteration"));
            Process checkpoint = hosts.command("checkpoint", "checkpoint", "job", "--log-json");
            hosts.await("the write of all hosts", "checkpoint",
                    () -> status(hosts).path("write").path("ranks").asInt() == 3);
            JsonNode write = status(hosts).path("write");
            assertTrue(write.path("bytes").asLong() > 3 * (24L << 20), write.toString());
            assertEquals(0, hosts.end("checkpoint", checkpoint, SECONDS),
                    () -> hosts.text("checkpoint") + hosts.text("job"));
            List<String> bars =
                    hosts.errors("checkpoint").lines().filter(line -> line.contains("\"progress\"")).toList();
            assertTrue(bars.size() >= 2 && bars.getLast().contains("\"ranks\":3"), () -> hosts.text("checkpoint"));
            String told =
                    "(?s).*suspend [0-9.]+ m?s \\(slowest .*snapshot [0-9.]+ m?s \\(slowest .*write [0-9.]+ s "
                            + "\\(slowest on .*longest on .*median .*";
            assertTrue(hosts.errors("checkpoint").matches(told), () -> hosts.text("checkpoint"));
            assertTimes(hosts);
            hosts.await("the times of its commit", "job",
                    () -> status(hosts).at("/checkpoints/last_commit/levels_ms").size() == 2);
            hosts.await("the counts", "job", () -> status(hosts).at("/counters/ud_rewrites").asLong() > 0);
            hosts.await("the metrics of three hosts", "job", () -> Files.readString(metrics)
                    .matches("(?s).*udckpt_ranks\\{[^}]*} 3.0.*udckpt_stop_seconds_count\\{[^}]*} 3\n.*")
                    && Files.readString(metrics).matches("(?s).*udckpt_sends_rewritten_total\\{[^}]*} [1-9].*"));
            assertEquals(0, hosts.run("end", SECONDS, "checkpoint", "job", "--then", "kill"), () -> hosts.text("end"));
            hosts.assertEnds(0, "job", job, SECONDS);
            assertTrue(Files.readString(metrics).contains("udckpt_state=\"ended\"} 1"), Files.readString(metrics));
            hosts.good();
        }
    }

    private static JsonNode status(SeveralHosts hosts) throws Exception {
        Files.deleteIfExists(hosts.directory.resolve("status.out"));
        assertEquals(0, hosts.run("status", SECONDS, "status", "job", "--json"), () -> hosts.text("status"));
        return new ObjectMapper().readTree(hosts.output("status")).at("/jobs/0");
    }

    private static void assertTimes(SeveralHosts hosts) throws Exception {
        assertEquals(0,
                hosts.run("inspect", SECONDS, "inspect", "--json", hosts.directory.resolve("images").toString()),
                () -> hosts.text("inspect"));
        JsonNode image = new ObjectMapper().readTree(hosts.output("inspect"));
        assertTrue(image.path("calls").findValuesAsText("call").containsAll(
                List.of("suspend", "drain", "snapshot", "resume", "write")), image.path("calls").toString());
        image.path("calls")
                .forEach(call -> assertTrue(
                        call.path("levels_ms").size() == 2
                                && call.at("/levels_ms/0").asDouble() >= call.at("/levels_ms/1").asDouble(),
                        call.toString()));
        double longest = 0;
        for (JsonNode node : image.path("nodes")) {
            assertEquals(Set.of("suspend", "drain", "snapshot", "wait", "resume", "write"),
                    Set.copyOf(node.path("phases").findValuesAsText("phase")), node.toString());
            double stop = 0;
            for (JsonNode phase : node.path("phases")) { // one rank on each
                stop += phase.path("phase").asText().equals("write") ? 0 : phase.path("ms").asDouble();
            }
            longest = Math.max(longest, stop);
        }
        assertEquals(image.at("/stop_ms/max").asDouble(), longest, 1e-3,
                "the stop of the node that stood still for longest");
        assertTrue(image.at("/stop_ms/median").asDouble() <= longest, image.path("stop_ms").toString());
    }

    @Tag("slow")
    @Test
    void aHostThatIsLostIsReplacedByASpareOne() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(5)) {
            List<String> whole = alone(hosts, "4");
            Process job = hosts.several("job", "run",
                    solver(hosts, "--name", "job", "--dir", hosts.directory.resolve("images").toString(), "--hosts",
                            hosts.hosts(1, 1, 2, 3, 4),
                            "--restart-on-failure", "3", "--spares", hosts.hosts(0, 5)));
            hosts.await("the job's output", "job", () -> hosts.output("job").contains("iteration"));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("checkpoint") + hosts.text("job"));
            hosts.crash(3);
            hosts.await("the restart", "job", () -> hosts.errors("job").contains("rank 2 moves from host "));
            hosts.release();
            hosts.assertEnds(0, "job", job, SECONDS);
            assertTrue(hosts.errors("job").contains("rank 2 moves from host " + lab(hosts, 3) + " to " + lab(hosts, 5)),
                    () -> hosts.text("job"));
            List<String> lines = hosts.lines("job");
            assertEquals(whole.getLast(), lines.getLast());
            hosts.good();
        }
    }

    /** Both tiers are seen by all hosts; the lead copies. What is newest may be on the slow one only. */
    @Tag("slow")
    @Test
    void theFastTierOfSeveralHostsMayBeLost() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(5)) {
            List<String> whole = alone(hosts, "4");
            Path fast = hosts.directory.resolve("fast"), slow = hosts.directory.resolve("slow");
            String tiers = "fast=" + fast + ",slow=" + slow;
            Process first = hosts.several("first", "run",
                    solver(hosts, "--name", "job", "--tiers", tiers, "--hosts", hosts.hosts(2, 2, 3)));
            hosts.await("the job's output", "first", () -> hosts.output("first").contains("iteration"));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("checkpoint") + hosts.text("first"));
            assertTrue(Files.exists(fast.resolve("ckpt-0001/manifest")), () -> hosts.text("first"));
            hosts.await("its copy", "first", () -> status(hosts).at("/drain/drained").asText().equals("ckpt-0001"));
            hosts.crash(2, 3);
            assertEquals(74, hosts.end("first", first, SECONDS), () -> hosts.text("first"));
            new ProcessBuilder("rm", "-rf", fast.toString()).start().waitFor();

            Process second = hosts.several("second", "restart", "--hosts", hosts.hosts(0, 4, 5), tiers);
            hosts.await("the job's output", "second", () -> hosts.output("second").contains("iteration"));
            assertEquals(0, hosts.run("again", SECONDS, "checkpoint", "job", "--then", "kill"),
                    () -> hosts.text("again") + hosts.text("second"));
            hosts.assertEnds(0, "second", second, SECONDS);
            assertTrue(Files.exists(fast.resolve("ckpt-0002/manifest")), () -> hosts.text("second"));
            assertTrue(Files.exists(slow.resolve("ckpt-0002/manifest")),
                    () -> "the end waits for the copy\n" + hosts.text("second"));

            hosts.release();
            Process third = hosts.several("third", "restart", "--hosts", hosts.hosts(0, 4), slow + "/ckpt-0002");
            hosts.assertEnds(0, "third", third, SECONDS);
            List<String> end = hosts.lines("third");
            assertTrue(end.getLast().startsWith("checksum"), () -> hosts.text("third"));
            assertEquals(whole.subList(whole.size() - end.size(), whole.size()), end);
            hosts.good();
        }
    }

    private static String lab(SeveralHosts hosts, int number) {
        return hosts.lab.host(number).namespace();
    }

    /** Each rank writes to a file of its own, and appends to one that all share. */
    private static final String WRITER = "exec 3>>shared.log 4>own.$PMI_RANK; i=0; touch ready.$PMI_RANK;"
            + " while [ ! -e finish ]; do i=$((i+1)); echo $PMI_RANK $i >&3; echo $i >&4; sleep 0.05; done";

    @Tag("slow")
    @Test
    void filesOfSeveralHostsAreWhatTheyWereAtTheCheckpoint() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(4)) {
            String images = hosts.directory.resolve("images").toString();
            Process first = hosts.several("first", "run", "--name", "job", "--dir", images, "--hosts",
                    hosts.hosts(1, 1, 2), "--", "/bin/sh", "-c", WRITER);
            hosts.await("the ranks", "first", () -> Files.exists(hosts.directory.resolve("ready.0"))
                    && Files.exists(hosts.directory.resolve("ready.1")));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("checkpoint") + hosts.text("first"));
            Thread.sleep(500); // they write what has to go away again
            hosts.crash(2);
            assertEquals(74, hosts.end("first", first, SECONDS), () -> hosts.text("first"));

            Process second = hosts.several("second", "restart", "--hosts", hosts.hosts(0, 3, 4), images);
            hosts.await("more lines", "second", () -> hosts.errors("second").contains("shared.log"));
            Thread.sleep(1000);
            Files.createFile(hosts.directory.resolve("finish"));
            hosts.assertEnds(0, "second", second, SECONDS);
            List<String> shared = Files.readAllLines(hosts.directory.resolve("shared.log"));
            for (int rank = 0; rank < 2; rank++) {
                String prefix = rank + " ";
                List<String> own = Files.readAllLines(hosts.directory.resolve("own." + rank));
                List<String> counted =
                        java.util.stream.IntStream.rangeClosed(1, own.size()).mapToObj(Integer::toString).toList();
                assertEquals(counted, own);
                assertEquals(counted, shared.stream().filter(line -> line.startsWith(prefix))
                        .map(line -> line.substring(2)).toList());
            }
            hosts.good();
        }
    }
}
