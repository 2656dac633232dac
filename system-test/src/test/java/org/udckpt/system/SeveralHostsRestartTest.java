package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.hosts.HostLab;

/**
 * Restarts of jobs on several hosts: over reliable connections, with their files elsewhere, and what a plan says
 * before.
 */
@Tag("slow")
@Timeout(400)
class SeveralHostsRestartTest {
    private static final int SECONDS = 150;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String STENCIL = "programs/stencil_cg";

    @BeforeEach
    void possible() {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
    }

    /**
     * The lines of a run that nothing disturbs; and the job, which is held, has been checkpointed, and lost with all of
     * its hosts.
     *
     * @param options of the run, with its hosts
     */
    private static List<String> lost(SeveralHosts hosts, String images, List<String> options, int... numbers)
            throws Exception {
        assertEquals(0, hosts.end("alone",
                hosts.command("alone", words(List.of("run", "-n", "4"), hosts.solver(STENCIL))), SECONDS),
                () -> hosts.text("alone"));
        hosts.hold();
        List<String> named = new ArrayList<>(List.of("--name", "job", "--dir", images));
        named.addAll(options);
        Process first = hosts.several("first", "run", words(named, hosts.solver(STENCIL)));
        hosts.await("the job's output", "first", () -> hosts.output("first").contains("iteration"));
        assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"),
                () -> hosts.text("checkpoint") + hosts.text("first"));
        hosts.crash(numbers);
        assertEquals(74, hosts.end("first", first, SECONDS), () -> hosts.text("first"));
        return hosts.lines("alone");
    }

    /** A run has gone on to the right end. */
    private static void assertEnd(List<String> whole, List<String> end) {
        assertEquals(whole.subList(whole.size() - end.size(), whole.size()), end);
        assertTrue(end.getLast().startsWith("checksum"), end.getLast());
    }

    private static String[] words(List<String> options, List<String> more) {
        return java.util.stream.Stream.concat(options.stream(), more.stream()).toArray(String[]::new);
    }

    @Test
    void reliableConnectionsGoOnOnOtherHostsAsPlanned() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(5)) {
            hosts.environment.put("UCX_TLS", "rc_v,self");
            String images = hosts.directory.resolve("images").toString();
            List<String> whole = lost(hosts, images, List.of("--hosts", hosts.hosts(2, 2, 3)), 2, 3);

            planned(hosts, images);
            refused(hosts, images);
            hosts.release();
            Process second = hosts.several("second", "restart", "--map",
                    hosts.hosts(0, 2) + "=" + hosts.hosts(0, 4) + "," + hosts.hosts(0, 3) + "=" + hosts.hosts(0, 5),
                    images);
            hosts.assertEnds(0, "second", second, SECONDS);
            assertEnd(whole, hosts.lines("second"));
            hosts.good();
        }
    }

    /**
     * Of a device that does not keep its keys over restarts: what a rank's peers on other hosts have to know of them
     * comes by the agents.
     */
    @Test
    void remoteKeysAreNewAndReachOtherHosts() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(5)) {
            hosts.environment.put("UCX_TLS", "rc_v,self");
            hosts.environment.put("UDCKPT_DATA_PATH", "generic");
            hosts.environment.put("UCX_RNDV_THRESH", "1k"); // by RDMA what is larger
            String images = hosts.directory.resolve("images").toString();
            List<String> whole = lost(hosts, images, List.of("--hosts", hosts.hosts(2, 2, 3)), 2, 3);
            Process second = hosts.several("second", "restart", "--hosts", hosts.hosts(0, 4, 5), images);
            hosts.await("the job's output", "second", () -> hosts.output("second").contains("iteration"));
            assertEquals(0, hosts.run("again", SECONDS, "checkpoint", "job", "--then", "kill"),
                    () -> hosts.text("again") + hosts.text("second"));
            hosts.assertEnds(0, "second", second, SECONDS);
            hosts.release();
            Process third = hosts.several("third", "restart", "--hosts", hosts.hosts(0, 2), images);
            hosts.assertEnds(0, "third", third, SECONDS);
            assertEnd(whole, hosts.lines("third"));
            hosts.good();
        }
    }

    /** Units of two ranks: four of one host go on as two on each of two others, and fewer do not stay together. */
    @Test
    void ranksOfOneHostGoApartInUnits() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(4)) {
            String images = hosts.directory.resolve("images").toString();
            List<String> whole = lost(hosts, images, List.of("--hosts", hosts.hosts(4, 2), "--ranks-per-unit", "2"), 2);
            refused(hosts, 64, "no room for ranks 0 to 1, which stay together", "--hosts", hosts.hosts(1, 3, 4),
                    images);
            Process second = hosts.several("second", "restart", "--hosts", hosts.hosts(2, 3, 4), images);
            hosts.await("the job's output", "second", () -> hosts.output("second").contains("iteration"));
            for (int number : new int[]{3, 4}) {
                assertTrue(hosts.programs(number).contains("stencil_cg"), hosts.programs(number).toString());
            }
            hosts.release();
            hosts.assertEnds(0, "second", second, SECONDS);
            assertEnd(whole, hosts.lines("second"));
            hosts.good();
        }
    }

    /** It starts nothing, anywhere. */
    private static void planned(SeveralHosts hosts, String images) throws Exception {
        assertEquals(0, hosts.end("plan",
                hosts.several("plan", "restart", "--plan", "--json", "--hosts", hosts.hosts(0, 4, 5), images), SECONDS),
                () -> hosts.text("plan"));
        JsonNode plan = JSON.readTree(hosts.output("plan"));
        assertEquals("1 job 1 2", plan.path("schema").asInt() + " " + plan.path("job").asText() + " "
                + plan.path("life").asInt() + " " + plan.path("nodes").asInt());
        for (int unit = 0; unit < 2; unit++) {
            JsonNode move = plan.path("moves").path(unit);
            assertEquals(unit + " " + 2 * unit + " 2", move.path("unit").asInt(-1) + " "
                    + move.path("first_rank").asInt() + " " + move.path("ranks").asInt(), plan.toString());
            assertEquals(hosts.hosts(0, 2 + unit) + " " + hosts.hosts(0, 4 + unit),
                    move.path("from").asText() + " " + move.path("to").asText());
            assertEquals("[" + (2 + unit) + "]", move.path("old_lids").toString(),
                    "the host's own address comes first: " + plan);
            assertTrue(move.path("queue_pairs").asInt() >= 2 && move.path("was_soft").asBoolean()
                    && move.path("new_lids").isEmpty(), plan.toString());
        }
        for (int number : new int[]{4, 5}) {
            assertEquals(Set.of(), hosts.programs(number));
        }
        assertEquals(0, hosts.end("same", hosts.several("same", "restart", "--plan", images), SECONDS),
                () -> hosts.text("same"));
        assertTrue(hosts.output("same").contains("ranks 2 to 3 stay on " + hosts.hosts(0, 3)),
                () -> hosts.text("same"));
    }

    private static void refused(SeveralHosts hosts, String images) throws Exception {
        refused(hosts, 64, "no room for ranks 0 to 1, which stay together", "--hosts", hosts.hosts(1, 4, 5), images);
        assertTrue(hosts.errors("refused").contains("ranks 0 and 1 share LID 0x"), () -> hosts.text("refused"));
        refused(hosts, 69, "ranks 0 to 1 cannot be separated", "--keep-together=no", images);
        refused(hosts, 64, "the job has no ranks on 'nobody'", "--plan", "--map", "nobody="
                + hosts.hosts(0, 4), images);
        refused(hosts, 69, "ranks 2 to 3 will be on host " + hosts.hosts(0, 5) + ", where 'udckpt status job.",
                "--debug", "3", "--hosts", hosts.hosts(0, 4, 5), images);
        refused(hosts, 66, "has no rank 4", "--debug", "4", images);
    }

    private static void refused(SeveralHosts hosts, int code, String words, String... options) throws Exception {
        Files.deleteIfExists(hosts.directory.resolve("refused.err"));
        assertEquals(code, hosts.end("refused", hosts.several("refused", "restart", options), SECONDS),
                () -> hosts.text("refused"));
        assertTrue(hosts.errors("refused").contains(words), () -> hosts.text("refused"));
    }

    /** In a directory that moves: each rank writes to a file of its own, and appends to one that all share. */
    private static final String WRITER = "cd old; exec 3>>shared.log 4>own.$PMI_RANK; i=0; touch ready.$PMI_RANK;"
            + " while [ ! -e finish ]; do i=$((i+1)); echo $PMI_RANK $i >&3; echo $i >&4; sleep 0.05; done; pwd -P; "
            + "pwd";

    @Test
    void filesThatAreElsewhereNow() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(4)) {
            String images = hosts.directory.resolve("images").toString();
            Path old = Files.createDirectory(hosts.directory.resolve("old"));
            Process first = hosts.several("first", "run", "--name", "job", "--dir", images, "--hosts",
                    hosts.hosts(1, 1, 2), "--", "/bin/sh", "-c", WRITER);
            hosts.await("the ranks", "first",
                    () -> Files.exists(old.resolve("ready.0")) && Files.exists(old.resolve("ready.1")));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("checkpoint") + hosts.text("first"));
            Thread.sleep(500); // they write what has to go away again
            hosts.crash(2);
            assertEquals(74, hosts.end("first", first, SECONDS), () -> hosts.text("first"));
            Path real = Files.move(old, hosts.directory.resolve("real"));
            Path now = Files.createSymbolicLink(hosts.directory.resolve("new"), real); // links are each host's own

            refused(hosts, 66, "there is no " + hosts.directory + "/nowhere", "--hosts", hosts.hosts(0, 3, 4),
                    "--map-path", old + "=" + hosts.directory + "/nowhere", images);
            long before = Files.size(real.resolve("shared.log"));
            Process plan = hosts.several("plan", "restart", "--plan", "--json", "--hosts", hosts.hosts(0, 3, 4),
                    "--map-path", old + "=" + now, images);
            hosts.assertEnds(0, "plan", plan, SECONDS);
            JsonNode files = JSON.readTree(hosts.output("plan")).path("files");
            assertEquals(1,
                    files.findValuesAsText("path").stream().filter(path -> path.equals(real + "/shared.log")).count(),
                    "one puts it back: " + files);
            assertEquals(3, files.size(), files.toString());
            assertEquals(before, Files.size(real.resolve("shared.log")));
            Process second = hosts.several("second", "restart", "--hosts", hosts.hosts(0, 3, 4), "--map-path",
                    old + "=" + now, images);
            hosts.await("more lines", "second", () -> hosts.errors("second").contains("shared.log"));
            Thread.sleep(1000);
            Files.createFile(real.resolve("finish"));
            hosts.assertEnds(0, "second", second, SECONDS);
            assertFalse(Files.exists(old), "something came back to where the files were");
            assertTrue(hosts.lines("second").contains(real.toString()), () -> hosts.text("second"));
            List<String> shared = Files.readAllLines(real.resolve("shared.log"));
            for (int rank = 0; rank < 2; rank++) {
                String prefix = rank + " ";
                List<String> own = Files.readAllLines(real.resolve("own." + rank));
                List<String> counted = IntStream.rangeClosed(1, own.size()).mapToObj(Integer::toString).toList();
                assertEquals(counted, own);
                assertEquals(counted, shared.stream().filter(line -> line.startsWith(prefix))
                        .map(line -> line.substring(2)).toList());
            }
            hosts.good();
        }
    }

    /** To a lead that stood still for longer than its lease all hosts seem lost, though nothing is wrong with them. */
    @Test
    void aLeadThatStoodStillUsesItsHostsAgain() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(3)) {
            assertEquals(
                    0, hosts.end("alone",
                            hosts.command("alone", words(List.of("run", "-n", "4"), hosts.solver(STENCIL))), SECONDS),
                    () -> hosts.text("alone"));
            List<String> whole = hosts.lines("alone");
            String images = hosts.directory.resolve("images").toString();
            hosts.hold();
            Process job = hosts.several("job", "run", words(List.of("--name", "job", "--dir", images, "--hosts",
                    hosts.hosts(2, 2, 3), "--restart-on-failure", "3"), hosts.solver(STENCIL)));
            hosts.await("the job's output", "job", () -> hosts.output("job").contains("iteration"));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("checkpoint") + hosts.text("job"));
            DisturbedJob.signal("STOP", List.of(lead(job).pid()));
            hosts.await("the end of the ranks", "job",
                    () -> hosts.programs(2).isEmpty() && hosts.programs(3).isEmpty());
            DisturbedJob.signal("CONT", List.of(lead(job).pid()));
            hosts.release();
            hosts.assertEnds(0, "job", job, SECONDS);
            assertTrue(whole.containsAll(hosts.lines("job")), () -> hosts.text("job"));
            assertEquals(whole.getLast(), hosts.lines("job").getLast());
            hosts.good();
        }
    }

    private static ProcessHandle lead(Process command) {
        return command.children().filter(child -> child.info().command().orElse("").endsWith("/java")).findFirst()
                .orElseThrow();
    }

    /** The same command goes on: a lead is lost, then a host, for which there is a spare, and then the next lead. */
    @Test
    void aLeadThatIsLostIsStartedAgain() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(4)) {
            assertEquals(
                    0, hosts.end("alone",
                            hosts.command("alone", words(List.of("run", "-n", "4"), hosts.solver(STENCIL))), SECONDS),
                    () -> hosts.text("alone"));
            List<String> whole = hosts.lines("alone");
            String images = hosts.directory.resolve("images").toString();
            hosts.hold();
            Process job = hosts.several("job", "run",
                    words(List.of("--name", "job", "--dir", images, "--hosts", hosts.hosts(2, 2, 3), "--spares",
                            hosts.hosts(0, 4),
                            "--restart-on-failure", "3"), hosts.solver(STENCIL)));
            hosts.await("the job's output", "job", () -> hosts.output("job").contains("iteration"));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("checkpoint") + hosts.text("job"));
            lead(job).destroyForcibly();
            hosts.await("the next lead", "job", () -> hosts.errors("job").contains("continues from"));
            hosts.await("its ranks", "job", () -> hosts.errors("job").contains("the ranks run"));
            hosts.crash(3);
            hosts.await("the spare", "job", () -> hosts.errors("job")
                    .contains("move from host " + hosts.hosts(0, 3) + " to " + hosts.hosts(0, 4)));
            hosts.await("ranks on the spare", "job", () -> hosts.errors("job").split("the ranks run", -1).length == 3);
            lead(job).destroyForcibly();
            hosts.release();
            hosts.assertEnds(0, "job", job, SECONDS);
            assertTrue(hosts.errors("job").split("lead was killed by signal 9", -1).length == 3,
                    () -> hosts.text("job"));
            List<String> lines = hosts.lines("job");
            assertTrue(whole.containsAll(lines), () -> hosts.text("job"));
            assertEquals(whole.getLast(), lines.getLast());
            assertTrue(whole.getLast().startsWith("checksum"), whole.getLast());
            hosts.good();
        }
    }
}
