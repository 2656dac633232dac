package org.udckpt.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.coordination.protocol.Request;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.launch.LaunchMode;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.transport.JobCredential;
import org.udckpt.transport.TransportEndpoint;
import org.udckpt.transport.TransportLimits;

/** How agents and the lead find each other, all in this JVM: the real endpoints and agents, without starters. */
@Timeout(180)
class RendezvousTest {
    private static final int SECONDS = 90;

    private final JobCredential credential = JobCredential.generate();

    /** The lead's end alone. */
    private final class Lead implements AutoCloseable {
        final NodeJob job;
        final Map<Integer, byte[]> others = new ConcurrentHashMap<>();
        final TransportEndpoint endpoint;
        final Rendezvous rendezvous;

        Lead(int units) throws IOException {
            job = new NodeJob("job", 0, LaunchMode.RANKS,
                    IntStream.range(0, units).mapToObj(unit -> new Unit("h" + unit, "localhost", unit, 1)).toList(), 3,
                    "/", List.of("true"), Map.of(), null);
            CompletableFuture<Rendezvous> made = new CompletableFuture<>();
            endpoint = new TransportEndpoint(0, job.nodes(), new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    credential, new org.udckpt.transport.Inbox() {
                        @Override
                        public void message(int from, byte[] message) {
                            try {
                                if (Introduction.isOne(message)) {
                                    made.join().received(from, message, System.nanoTime());
                                } else {
                                    others.put(from, message);
                                }
                            } catch (MalformedMessage e) {
                                throw new IllegalArgumentException(e);
                            }
                        }

                        @Override
                        public void table(int from, byte[] subject, org.apache.arrow.vector.VectorSchemaRoot table) {
                            throw new IllegalStateException("no table is sent here");
                        }
                    }, TransportLimits.usual());
            rendezvous = new Rendezvous(job, endpoint);
            made.complete(rendezvous);
        }

        byte[] specification(JobCredential with, long seconds) {
            return new SpecificationText(
                    new NodeSpecification(job, 1, NodeSpecification.Address.of(endpoint.address()), Timing.USUAL,
                            TimeUnit.SECONDS.toNanos(seconds), Map.of()),
                    with).encode();
        }

        @Override
        public void close() {
            endpoint.close();
        }
    }

    /** An agent without ranks in a thread of its own. */
    private static CompletableFuture<Integer> agent(byte[] specification, int unit) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return NodeAgent.run(new ByteArrayInputStream(specification), new UnitChoice.Said(unit),
                        Settings.load(), (said, own, settings, key, end) -> new Idle());
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, task -> Thread.ofVirtual().start(task));
    }

    private static final class Idle implements AgentListener {
        @Override
        public void joined(NodeHandle node) {
            // nothing is asked of it
        }

        @Override
        public void begin(Request request, long now) {
            throw new IllegalStateException("nothing is asked here");
        }

        @Override
        public void over(String why, long inDoubt, long now) {
            throw new IllegalStateException(why);
        }

        @Override
        public void close() {
            // has nothing
        }
    }

    @Tag("slow")
    @Test
    void allComeAndGoAgain() throws Exception {
        try (Lead lead = new Lead(40)) {
            List<CompletableFuture<Integer>> agents = new ArrayList<>();
            for (int unit = 0; unit < 40; unit++) {
                agents.add(agent(lead.specification(credential, SECONDS), unit));
            }
            lead.rendezvous.complete().get(SECONDS, TimeUnit.SECONDS);
            assertEquals(List.of(), lead.rendezvous.missing());
            while (lead.others.size() < 3) {
                // nodes 1 to 3 speak to their parent, which they know without being told; the test's time limit bounds
                // it
                Thread.sleep(10);
            }
            lead.rendezvous.farewell("");
            for (CompletableFuture<Integer> agent : agents) {
                assertEquals(0, agent.get(SECONDS, TimeUnit.SECONDS));
            }
        }
    }

    @Test
    void aStrangerIsNoAgent() throws Exception {
        try (Lead lead = new Lead(2)) {
            CompletableFuture<Integer> stranger = agent(lead.specification(JobCredential.generate(), 3), 0);
            ExecutionException ended =
                    assertThrows(ExecutionException.class, () -> stranger.get(SECONDS, TimeUnit.SECONDS));
            assertEquals(ExitCode.TIMEOUT, ((Failure) ended.getCause()).code());
            assertTrue(ended.getCause().getMessage().contains("unit 0, got no answer from the lead at 127.0.0.1 port"),
                    ended.getCause().getMessage());
            assertEquals(List.of(0, 1), lead.rendezvous.missing());
            assertTrue(lead.endpoint.refused() > 0);
        }
    }

    @Test
    void aUnitThatComesTwiceIsNamed() throws Exception {
        try (Lead lead = new Lead(2)) {
            CompletableFuture<Integer> one = agent(lead.specification(credential, SECONDS), 0);
            CompletableFuture<Integer> other = agent(lead.specification(credential, SECONDS), 0);
            ExecutionException failed = assertThrows(ExecutionException.class,
                    () -> lead.rendezvous.complete().get(SECONDS, TimeUnit.SECONDS));
            assertTrue(failed.getCause().getMessage().contains("unit 0 (localhost) has connected twice"),
                    failed.getCause().getMessage());
            lead.rendezvous.farewell("");
            CompletableFuture.anyOf(one, other).get(SECONDS, TimeUnit.SECONDS);
        }
    }

    @Test
    void anAgentOfAnotherVersionIsNamed() throws Exception {
        try (Lead lead = new Lead(1)) {
            lead.rendezvous.received(1, new Introduction.Hello(SpecificationText.VERSION + 1, 77,
                    new InetSocketAddress("127.0.0.1", 7), "old").encode(), 0);
            ExecutionException failed = assertThrows(ExecutionException.class, () -> lead.rendezvous.complete().get());
            assertTrue(
                    failed.getCause().getMessage()
                            .contains("process 77 on old, speaks version " + (SpecificationText.VERSION + 1)),
                    failed.getCause().getMessage());
        }
    }

    @Test
    void introductionsComeBackAndNothingElseDoes() throws Exception {
        Map<Integer, InetSocketAddress> nodes = new LinkedHashMap<>();
        nodes.put(1, new InetSocketAddress("10.1.2.3", 65_535));
        nodes.put(70_000, new InetSocketAddress("fe80::1", 1));
        for (Introduction each : List.of(new Introduction.Hello(1, 1L << 40, nodes.get(1), "host \u00E4"),
                new Introduction.Roster(2, nodes), new Introduction.Roster(0, Map.of()),
                new Introduction.Farewell("because"))) {
            assertEquals(each, Introduction.decode(each.encode()));
            byte[] more = java.util.Arrays.copyOf(each.encode(), each.encode().length + 1);
            assertThrows(MalformedMessage.class, () -> Introduction.decode(more));
            for (int length = 1; length < each.encode().length; length++) {
                byte[] less = java.util.Arrays.copyOf(each.encode(), length);
                if (!(each instanceof Introduction.Roster && length >= 6 && isWhole(less))) {
                    assertThrows(MalformedMessage.class, () -> Introduction.decode(less), each + " cut at " + length);
                }
            }
        }
        assertThrows(MalformedMessage.class, () -> Introduction.decode(new byte[]{Introduction.MARK, 3}));
    }

    /**
     * A roster says in its head how many it has with its other pieces: cut between two entries it is one of several.
     */
    private static boolean isWhole(byte[] roster) {
        return roster.length == 6 || roster.length == 17;
    }
}
