package org.udckpt.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.hosts.Host;
import org.udckpt.hosts.HostLab;
import org.udckpt.hosts.Ip;

/**
 * Hosts in network namespaces: what they are, and that the nodes' connections and the soft fabric reach from one to
 * another.
 */
@Timeout(180)
class HostLabTest {
    @TempDir
    Path directory;

    private HostLab lab;

    @BeforeEach
    void start() throws IOException {
        Optional<String> missing = HostLab.missing();
        assumeTrue(missing.isEmpty(), missing::get);
        lab = new HostLab(3, directory);
    }

    @AfterEach
    void end() {
        if (lab != null) {
            lab.close();
            assertTrue(Ip.namespaces().stream()
                    .noneMatch(name -> name.contains("-" + ProcessHandle.current().pid() + "-")));
        }
    }

    private static String run(ProcessBuilder command) throws Exception {
        Process process = command.redirectErrorStream(true).start();
        process.getOutputStream().close();
        String words = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), words);
        return words;
    }

    @Tag("slow")
    @Test
    void nodesOfDifferentHostsTalkAcrossPartitionsAndCrashes() throws Exception {
        JobCredential credential = JobCredential.generate();
        try (PeerProcess one = new PeerProcess(lab.host(1), credential);
                PeerProcess two = new PeerProcess(lab.host(2), credential);
                PeerProcess three = new PeerProcess(lab.host(3), credential)) {
            for (PeerProcess peer : List.of(one, two, three)) {
                assertEquals("ready", peer.next());
                for (Host host : lab.hosts()) {
                    peer.say("reach " + host.number() + " " + host.address());
                }
            }
            one.say("send 2 hello");
            assertEquals("1 hello", two.next());
            two.say("send 1 and back");
            assertEquals("2 and back", one.next());

            lab.partition(Set.of(3));
            one.say("send 3 are you there");
            one.say("send 2 we are");
            assertEquals("1 we are", two.next());
            assertTrue(three.isSilent());
            lab.heal();
            assertEquals("1 are you there", three.next());

            Files.writeString(lab.host(2).directory().resolve("local"), "lost with its host");
            lab.host(2).crash();
            assertFalse(Files.exists(lab.host(2).directory().resolve("local")));
            one.say("send 2 who is there now");
            try (PeerProcess again = new PeerProcess(lab.host(2), credential)) {
                assertEquals("ready", again.next());
                assertEquals("1 who is there now", again.next());
            }
        }
    }

    /** Programs that use verbs and that nobody here wrote, one on each of two hosts, over the bridge. */
    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"ibv_ud_pingpong, 0", "ibv_rc_pingpong, 0", "ibv_rc_pingpong, 2"}) // the first has no answer to loss
    void theSoftFabricReachesFromHostToHost(String program, String loss) throws Exception {
        int lidOfServer = lab.host(1).lids() + 1, lidOfClient = lab.host(2).lids() + 200;
        Process server = verbs(lab.host(1), lidOfServer, loss, program).redirectErrorStream(true).start();
        try {
            while (!run(lab.host(1).command("cat", "/proc/net/tcp6", "/proc/net/tcp")).contains(":4853 ")) { // 18515
                assertTrue(server.isAlive(), () -> new String(readAll(server), StandardCharsets.UTF_8));
            }
            String client = run(verbs(lab.host(2), lidOfClient, loss, program, lab.host(1).address()));
            assertTrue(client.contains("200 iters"), client);
            assertTrue(client.contains(String.format("remote address: LID 0x%04x", lidOfServer)), client);
            assertEquals(0, server.waitFor(), () -> new String(readAll(server), StandardCharsets.UTF_8));
        } finally {
            server.destroyForcibly();
        }
    }

    private static byte[] readAll(Process process) {
        try {
            return process.getInputStream().readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ProcessBuilder verbs(Host host, int lid, String loss, String program, String... more) {
        List<String> words = new ArrayList<>(
                List.of("env", "LD_PRELOAD=" + Path.of(System.getProperty("udckpt.native"), "libudckpt.so"),
                        "UDCKPT_VIRTUALIZE=0", "UDCKPT_SOFT_NET=" + HostLab.NET, "UDCKPT_SOFT_LID=" + lid,
                        "UDCKPT_SOFT_LOSS=" + loss, program, "-n", "200"));
        words.addAll(List.of(more));
        return host.command(words);
    }

    @Test
    void whatACrashedRunLeftIsRemoved() throws Exception {
        Process dead = new ProcessBuilder("true").start();
        dead.waitFor();
        String left = "udckpt-lab-" + dead.pid() + "-1-1";
        Ip.run("ip", "netns", "add", left);
        Process inIt = new ProcessBuilder("ip", "netns", "exec", left, "sleep", "1000").start();
        while (Ip.run("ip", "netns", "pids", left).isEmpty()) {
            assertTrue(inIt.isAlive());
        }
        try (HostLab next = new HostLab(1, directory.resolve("next"))) {
            assertFalse(Ip.namespaces().contains(left));
            inIt.waitFor();
            assertEquals(1, next.hosts().size());
        }
    }
}
