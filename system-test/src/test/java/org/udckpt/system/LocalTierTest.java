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
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.hosts.HostLab;

/**
 * A real MPI job on hosts of which each has a disk of its own: checkpoints are written there, and copied by each host
 * to a directory that all share.
 */
@Tag("slow")
@Timeout(300)
class LocalTierTest {
    private static final int SECONDS = 120;

    @BeforeEach
    void possible() {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
    }

    private static String[] run(SeveralHosts hosts, String... options) {
        List<String> words = new ArrayList<>(Arrays.asList(options));
        words.addAll(hosts.solver("programs/stencil_cg"));
        return words.toArray(String[]::new);
    }

    private static List<String> whole;

    /** What it prints where nothing happens to it; from now on it is held. */
    private static List<String> whole(SeveralHosts hosts) throws Exception {
        if (whole == null) {
            assertEquals(0, hosts.end("alone", hosts.command("alone", run(hosts, "run", "-n", "4")), SECONDS),
                    () -> hosts.text("alone"));
            whole = hosts.lines("alone");
        }
        hosts.hold();
        return whole;
    }

    private static void assertEndOf(List<String> whole, List<String> end) {
        assertTrue(end.getLast().startsWith("checksum"), end.toString());
        assertEquals(whole.subList(whole.size() - end.size(), whole.size()), end);
    }

    private static JsonNode status(SeveralHosts hosts) throws Exception {
        Files.deleteIfExists(hosts.directory.resolve("status.out"));
        assertEquals(0, hosts.run("status", SECONDS, "status", "job", "--json"), () -> hosts.text("status"));
        return new ObjectMapper().readTree(hosts.output("status")).at("/jobs/0");
    }

    private static void awaitDrained(SeveralHosts hosts, String job, String name) throws Exception {
        hosts.await("the copy of " + name, job, () -> status(hosts).at("/drain/drained").asText().equals(name));
    }

    /** What a host has on its disk of a unit's checkpoints. */
    private static Set<String> parts(SeveralHosts hosts, int host, int unit) throws Exception {
        Path directory = hosts.directory.resolve("host" + host + "/ckpt/job/node-000" + unit);
        Set<String> names = new TreeSet<>();
        if (Files.isDirectory(directory)) {
            try (var all = Files.list(directory)) {
                all.forEach(part -> names.add(part.getFileName().toString()));
            }
        }
        return names;
    }

    @Test
    void eachHostWritesAndCopiesItsOwn() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(5)) {
            List<String> whole = whole(hosts);
            Path local = hosts.disks().resolve("ckpt"), slow = hosts.directory.resolve("slow");
            String tiers = "local=" + local + ",slow=" + slow;
            Process first = hosts.several("first", "run",
                    run(hosts, "--name", "job", "--tiers", tiers, "--keep", "2", "--hosts", hosts.hosts(2, 2, 3)));
            hosts.await("the job's output", "first", () -> hosts.output("first").contains("iteration"));
            assertEquals(0, hosts.run("one", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("one") + hosts.text("first"));
            assertTrue(Files.exists(local.resolve("ckpt-0001/manifest")) && !Files.exists(local.resolve("job")),
                    () -> hosts.text("first"));
            assertTrue(Files.exists(hosts.directory.resolve("host2/ckpt/job/node-0000/ckpt-0001/node-0000.stripe-00")),
                    () -> hosts.text("first"));
            awaitDrained(hosts, "first", "ckpt-0001");
            assertEquals(0, hosts.run("verify", SECONDS, "verify", slow.toString()), () -> hosts.text("verify"));
            assertEquals(0, hosts.run("two", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("two") + hosts.text("first"));
            awaitDrained(hosts, "first", "ckpt-0002");
            hosts.await("the end of the first one's parts", "first",
                    () -> parts(hosts, 2, 0).equals(Set.of("ckpt-0002"))
                            && parts(hosts, 3, 1).equals(Set.of("ckpt-0002")));
            assertEquals(0, hosts.run("list", SECONDS, "list", tiers), () -> hosts.text("list"));
            assertTrue(hosts.output("list").contains("in local (its hosts have the parts), slow"),
                    hosts.output("list"));
            assertEquals(0, hosts.run("all", SECONDS, "verify", "--all", tiers), () -> hosts.text("all"));
            ends(hosts, 75, "remove", tiers + "/ckpt-0002"); // the job would go back to it
            hosts.crash(2, 3);
            assertEquals(74, hosts.end("first", first, SECONDS), () -> hosts.text("first"));

            Process second = hosts.several("second", "restart", "--hosts", hosts.hosts(0, 4, 5), tiers);
            hosts.await("the job's output", "second", () -> hosts.output("second").contains("iteration"));
            assertEquals(0, hosts.run("again", SECONDS, "checkpoint", "job", "--then", "kill"),
                    () -> hosts.text("again") + hosts.text("second"));
            hosts.assertEnds(0, "second", second, SECONDS);
            assertTrue(Files.exists(slow.resolve("ckpt-0003/manifest")),
                    () -> "the end waits for the hosts' copies\n" + hosts.text("second"));

            pruned(hosts, tiers, slow);

            // Each host still has its part: what happens to the copy of its stripes is no matter there, and all the
            // matter elsewhere.
            Path stripe = slow.resolve("ckpt-0003/node-0001.stripe-00");
            Files.write(stripe, new byte[(int) Files.size(stripe)]);
            hosts.release();
            Process third = hosts.several("third", "restart", "--hosts", hosts.hosts(0, 4, 5), tiers);
            hosts.assertEnds(0, "third", third, SECONDS);
            assertEndOf(whole, hosts.lines("third"));
            Process fourth = hosts.several("fourth", "restart", "--hosts", hosts.hosts(0, 5, 4), tiers);
            hosts.assertEnds(65, "fourth", fourth, SECONDS);
            assertTrue(hosts.errors("fourth").contains("node-0001.stripe-00"), () -> hosts.text("fourth"));
            removed(hosts, tiers, slow);
            hosts.good();
        }
    }

    /** A command, which ends so; both its streams. */
    private static String ends(SeveralHosts hosts, int code, String... words) throws Exception {
        String name = words[0];
        Files.deleteIfExists(hosts.directory.resolve(name + ".out"));
        Files.deleteIfExists(hosts.directory.resolve(name + ".err"));
        assertEquals(code, hosts.run(name, SECONDS, words), () -> hosts.text(name));
        return hosts.text(name);
    }

    /** The job has ended; its newest, ckpt-0003, is on its hosts and on slow. */
    private static void pruned(SeveralHosts hosts, String tiers, Path slow) throws Exception {
        String would = ends(hosts, 0, "prune", tiers, "--keep", "1", "--dry-run");
        assertTrue(would.contains("would remove ckpt-0002 from slow"), would);
        assertTrue(Files.exists(slow.resolve("ckpt-0002/manifest")), would);
        String done = ends(hosts, 0, "prune", tiers, "--keep", "1");
        assertTrue(done.contains("removed ckpt-0002 from slow"), done);
        assertFalse(Files.exists(slow.resolve("ckpt-0002")), done);
        assertTrue(Files.exists(slow.resolve("ckpt-0003/manifest")), done);
    }

    /** Its manifests go in both tiers; what the hosts have is named with the place. */
    private static void removed(SeveralHosts hosts, String tiers, Path slow) throws Exception {
        String done = ends(hosts, 0, "remove", tiers + "/ckpt-0003");
        assertTrue(done.contains("removed ckpt-0003 from local") && done.contains("removed ckpt-0003 from slow"), done);
        assertTrue(done.contains("the parts of ckpt-0003 on its hosts stay"), done);
        assertTrue(done.contains(hosts.hosts(0, 4) + ":") && done.contains("/node-0000/ckpt-0003"), done);
        assertFalse(Files.exists(slow.resolve("ckpt-0003")), done);
        ends(hosts, 66, "remove", tiers + "/ckpt-0003");
    }

    /** Its lead dies before slow has it: agents on its hosts fetch it, if their disks are still there. */
    @Test
    void whatOnlyTheHostsHaveIsCopiedBeforeARestart() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(5)) {
            List<String> whole = whole(hosts);
            Path local = hosts.disks().resolve("ckpt"), slow = hosts.directory.resolve("slow");
            String tiers = "local=" + local + ",slow=" + slow;
            Process first = hosts.several("first", "run",
                    run(hosts, "--name", "job", "--tiers", tiers, "--hosts", hosts.hosts(2, 2, 3)));
            hosts.await("the job's output", "first", () -> hosts.output("first").contains("iteration"));
            Files.writeString(slow, "in the way");
            assertEquals(0, hosts.run("one", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("one") + hosts.text("first"));
            hosts.await("the report", "first", () -> hosts.errors("first").contains("copying ckpt-0001 to " + slow));
            assertTrue(hosts.errors("first").contains("the job goes on"), () -> hosts.text("first"));
            first.destroyForcibly().waitFor();
            hosts.await("the end of its ranks", "first",
                    () -> hosts.programs(2).isEmpty() && hosts.programs(3).isEmpty());
            Files.delete(slow);

            assertEquals(69, hosts.run("inspect", SECONDS, "inspect", tiers), () -> hosts.text("inspect"));
            assertEquals(0, hosts.run("all", SECONDS, "verify", "--all", tiers), () -> hosts.text("all"));
            assertTrue(hosts.errors("all").contains("have its parts"), () -> hosts.text("all"));
            assertTrue(
                    hosts.errors("inspect")
                            .contains("its hosts (" + hosts.hosts(0, 2, 3).replace(",", ", ") + ") have its parts"),
                    () -> hosts.text("inspect"));
            Path part = hosts.directory.resolve("host3/ckpt/job/node-0001");
            Path aside = Files.move(part, part.resolveSibling("aside"));
            Process lost = hosts.several("lost", "restart", "--hosts", hosts.hosts(0, 4, 5), tiers);
            assertTrue(hosts.end("lost", lost, SECONDS) != 0 && hosts.errors("lost")
                    .matches("(?s).*ckpt-0001 is only on its hosts, and they could not copy it.*\\(host "
                            + hosts.hosts(0, 3) + "\\).*does not have that part.*"),
                    () -> hosts.text("lost"));
            assertFalse(Files.exists(slow.resolve("ckpt-0001")), "nothing is left of what could not be");
            Files.move(aside, part);
            hosts.release();
            Process second = hosts.several("second", "batch",
                    run(hosts, "--name", "job", "--tiers", tiers, "--hosts", hosts.hosts(2, 4, 5)));
            hosts.assertEnds(0, "second", second, SECONDS);
            assertTrue(hosts.errors("second").contains("they first copy it to " + slow), () -> hosts.text("second"));
            assertEndOf(whole, hosts.lines("second"));
            hosts.good();
        }
    }

    /**
     * A rank dies: the hosts copy what they have, and the next incarnation begins with it, on the hosts that are left.
     */
    @Test
    void theNextIncarnationGoesOnFromTheCopy() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(4)) {
            List<String> whole = whole(hosts);
            Path slow = hosts.directory.resolve("slow");
            String tiers = "local=" + hosts.disks().resolve("ckpt") + ",slow=" + slow;
            Process job = hosts.several("job", "run",
                    run(hosts, "--name", "job", "--tiers", tiers, "--restart-on-failure", "3", "--spares",
                            hosts.hosts(0, 4), "--max-rate", "32M", "--buffer", "4M",
                            "--hosts", hosts.hosts(2, 2, 3)));
            hosts.await("the job's output", "job", () -> hosts.output("job").contains("iteration"));
            assertEquals(0, hosts.run("one", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("one") + hosts.text("job"));
            long victim = hosts.pids(2, "stencil_cg").getFirst();
            ProcessHandle.of(victim).orElseThrow().destroyForcibly();
            hosts.await("the next incarnation", "job",
                    () -> hosts.errors("job").contains("restarting it from " + slow.resolve("ckpt-0001")));
            hosts.await("its ranks", "job", () -> hosts.errors("job").contains("the ranks run"));
            assertEquals(0, hosts.run("two", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("two") + hosts.text("job"));
            awaitDrained(hosts, "job", "ckpt-0002");
            hosts.crash(3);
            hosts.await("the third incarnation", "job",
                    () -> hosts.errors("job").contains("restarting it from " + slow.resolve("ckpt-0002")));
            hosts.release();
            hosts.assertEnds(0, "job", job, SECONDS);
            List<String> lines = hosts.lines("job");
            assertEquals(whole.getLast(), lines.getLast(), () -> hosts.text("job"));
            hosts.good();
        }
    }
}
