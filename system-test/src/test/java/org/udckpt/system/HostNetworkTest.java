package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.hosts.HostLab;
import org.udckpt.hosts.Trouble;

/**
 * A real MPI job on three hosts, whose network is cut, for shorter and for longer than the lease, or bad: what that
 * leads to, and that the answer is right.
 */
@Tag("slow")
@Timeout(400)
class HostNetworkTest {
    private static final int SECONDS = 240;
    private static final String LONG_LEASE = "20s", SHORT_LEASE = "4s";
    private static final String RESTARTED = "restarting it from";

    @BeforeEach
    void possible() {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
    }

    private static SeveralHosts hosts(String lease) throws IOException {
        SeveralHosts hosts = new SeveralHosts(5);
        hosts.environment.put("UDCKPT_LEASE", lease);
        return hosts;
    }

    private static String[] words(SeveralHosts hosts, String... options) {
        List<String> words = new ArrayList<>(List.of(options));
        words.addAll(hosts.solver("programs/stencil_cg"));
        return words.toArray(String[]::new);
    }

    /** What an undisturbed job prints last. */
    private static String answer(SeveralHosts hosts) throws Exception {
        assertEquals(0, hosts.end("alone", hosts.command("alone", words(hosts, "run", "-n", "3")), SECONDS),
                () -> hosts.text("alone"));
        return hosts.lines("alone").getLast();
    }

    /** A job with one rank on each of hosts 2, 3 and 4, and 5 as a spare, that has a checkpoint and is held. */
    private static Process start(SeveralHosts hosts) throws Exception {
        hosts.hold();
        Process job = hosts.several("job", "run",
                words(hosts, "--name", "job", "--dir", hosts.directory.resolve("images").toString(), "--hosts",
                        hosts.hosts(1, 2, 3, 4), "--spares",
                        hosts.hosts(0, 5), "--restart-on-failure", "3"));
        hosts.await("the job's output", "job", () -> hosts.output("job").contains("iteration"));
        checkpoint(hosts);
        return job;
    }

    private static void checkpoint(SeveralHosts hosts) throws Exception {
        assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"),
                () -> hosts.text("checkpoint") + hosts.text("job"));
    }

    private static void assertEndsWell(SeveralHosts hosts, Process job, String answer) throws Exception {
        hosts.release();
        hosts.assertEnds(0, "job", job, SECONDS);
        assertEquals(answer, hosts.lines("job").getLast(), () -> hosts.text("job"));
        for (int number = 2; number <= 5; number++) {
            assertEquals(Set.of(), hosts.programs(number), () -> hosts.text("job"));
        }
        hosts.good();
    }

    /** But for what a crash leaves. */
    private static void assertNothingLeft(SeveralHosts hosts) throws IOException {
        try (var left = Files.list(hosts.directory.resolve("run"))) {
            assertEquals(List.of(), left.toList());
        }
    }

    private static boolean restarted(SeveralHosts hosts) throws IOException {
        return hosts.errors("job").contains(RESTARTED);
    }

    private static void assertOnlyCostsItsTime(String lease, Consumer<HostLab> cut, long millis) throws Exception {
        try (SeveralHosts hosts = hosts(lease)) {
            String answer = answer(hosts);
            Process job = start(hosts);
            cut.accept(hosts.lab);
            Thread.sleep(millis);
            hosts.lab.heal();
            checkpoint(hosts);
            assertEndsWell(hosts, job, answer);
            assertNothingLeft(hosts);
            assertFalse(restarted(hosts), () -> hosts.text("job"));
        }
    }

    @Test
    void aCutThatIsShorterThanTheLeaseOnlyCostsItsTime() throws Exception {
        assertOnlyCostsItsTime(LONG_LEASE, lab -> lab.partition(Set.of(3)), 5000);
    }

    /** All that listens, on the lead's host and on those with ranks: {@code ADDRESS:PORT}. */
    private static List<String> listening(SeveralHosts hosts) throws Exception {
        List<String> all = new ArrayList<>();
        for (int number = 1; number <= 4; number++) {
            Process sockets = hosts.lab.host(number).command("ss", "-Htln").start();
            for (String line : sockets.inputReader().lines().toList()) {
                // a JVM's sockets are of IPv6
                String address = line.trim().split(" +")[3].replace("[::ffff:", "").replace("]", "");
                if (address.startsWith(hosts.lab.host(number).address() + ":")) {
                    all.add(address);
                }
            }
            assertEquals(0, sockets.waitFor());
        }
        return all;
    }

    /**
     * From a host that has no part in the job: connections that say nothing, plain text, the beginning of a handshake,
     * too large a frame, and bytes of chance.
     */
    @Test
    void strangersAreRefusedAndChangeNothing() throws Exception {
        try (SeveralHosts hosts = hosts(LONG_LEASE)) {
            String answer = answer(hosts);
            Process job = start(hosts);
            List<String> targets = listening(hosts);
            assertTrue(targets.size() >= 4, targets::toString);
            Files.writeString(hosts.directory.resolve("strangers.pl"), """
                    use IO::Socket::INET;
                    $SIG{PIPE} = 'IGNORE';
                    srand 4711;
                    my @said = ('', "GET / HTTP/1.0\\r\\n\\r\\n", \
                        "\\x16\\x03\\x01\\x02\\x00\\x01\\x00\\x01\\xfc\\x03\\x03" . 'x' x 508,
                        "PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n\\xff\\xff\\xff\\0\\0\\0\\0\\0\\0", \
                        "\\0" x 65536, join('', map { chr(int(rand(256))) } 1 .. 65536));
                    my $reached = 0;
                    for my $round (1 .. 20) {
                        for my $target (@ARGV) {
                            for my $words (@said) {
                                my $socket = IO::Socket::INET->new(PeerAddr => $target, Timeout => 2) or next;
                                $reached++;
                                print {$socket} $words;
                                close $socket;
                            }
                        }
                    }
                    print "$reached\\n";
                    """);
            List<String> words = new ArrayList<>(List.of("perl", hosts.directory.resolve("strangers.pl").toString()));
            words.addAll(targets);
            Process strangers = hosts.lab.host(5).command(words).redirectErrorStream(true).start();
            String reached = new String(strangers.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            assertEquals(0, strangers.waitFor(), reached);
            assertTrue(Integer.parseInt(reached) >= 6 * targets.size(), () -> reached + " connections to " + targets);
            checkpoint(hosts);
            // Said after a moment, and not at all by a job that has ended by then.
            String refused = "refused " + hosts.lab.host(5).address() + ": ";
            hosts.await("the refusal", "job", () -> hosts.errors("job").contains(refused));
            assertEndsWell(hosts, job, answer);
            assertNothingLeft(hosts);
            assertFalse(restarted(hosts), () -> hosts.text("job"));
        }
    }

    /** Its ranks have ended when others take their place. */
    @Test
    void aHostThatIsCutOffForLongerIsReplaced() throws Exception {
        try (SeveralHosts hosts = hosts(SHORT_LEASE)) {
            String answer = answer(hosts);
            Process job = start(hosts);
            hosts.lab.partition(Set.of(3));
            hosts.await("the restart", "job", () -> hosts.errors("job").contains("rank 1 moves from host "
                    + hosts.lab.host(3).namespace() + " to " + hosts.lab.host(5).namespace()));
            assertEquals(List.of(), hosts.pids(3, "stencil_cg"), () -> hosts.text("job"));
            hosts.lab.heal();
            assertEndsWell(hosts, job, answer);
        }
    }

    /** Their ranks wait for each other; their agents, which speak to the lead alone, hear of nothing. */
    @Test
    void agentsThatDoNotReachEachOtherLoseNothing() throws Exception {
        assertOnlyCostsItsTime(SHORT_LEASE, lab -> lab.isolate(Set.of(2, 3)), 6000);
    }

    /**
     * Start, checkpoints, a host's loss, and the restart: all with messages that are late, lost, doubled and out of
     * order, of the job's ranks too.
     */
    @Test
    void aBadNetworkMakesItSlowAndNothingElse() throws Exception {
        try (SeveralHosts hosts = hosts(LONG_LEASE)) {
            String answer = answer(hosts);
            hosts.lab.hosts().forEach(host -> hosts.lab.trouble(host,
                    new Trouble(Duration.ofMillis(3), Duration.ofMillis(2), 2, 2, 5, 20_000_000)));
            Process job = start(hosts);
            hosts.crash(4);
            hosts.await("the restart", "job", () -> restarted(hosts));
            Thread.sleep(5000);
            hosts.lab.calm();
            assertEndsWell(hosts, job, answer);
        }
    }
}
