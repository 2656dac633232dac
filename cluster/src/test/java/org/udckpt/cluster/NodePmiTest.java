package org.udckpt.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.address.RankSpan;
import org.udckpt.launch.pmi.PmiClient;
import org.udckpt.launch.pmi.PmiState;

/** PMI-1 over nodes: real servers and clients on unix sockets; the tree's messages go through memory. */
@Timeout(60)
class NodePmiTest {
    private static final String INIT = "cmd=init pmi_version=1 pmi_subversion=1";
    private static final int RANKS = 8;

    @TempDir
    Path directory;

    private PmiNetwork network(int agents, int fanOut) throws Exception {
        return new PmiNetwork(directory, 1, fanOut, PmiNetwork.spans(agents, RANKS / agents), null);
    }

    private static String put(String key, String value) {
        return "cmd=put kvsname=kvs_test key=" + key + " value=" + value;
    }

    private static String get(String key) {
        return "cmd=get kvsname=kvs_test key=" + key;
    }

    private static String found(String value) {
        return "cmd=get_result rc=0 msg=success value=" + value;
    }

    /** What MPI does between MPI_Init and MPI_Finalize. */
    private static void incarnation(PmiNetwork network, int rank) throws Exception {
        try (PmiClient client = network.rank(rank)) {
            assertEquals("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0", client.ask(INIT));
            assertEquals("cmd=universe_size size=" + RANKS, client.ask("cmd=get_universe_size"));
            assertEquals(found("(vector,(0,4,2))"), client.ask(get("PMI_process_mapping")));
            for (int round = 0; round < 2; round++) {
                assertEquals("cmd=put_result rc=0 msg=success",
                        client.ask(put("card-" + round + "-" + rank, "of-" + rank)));
                assertEquals("cmd=barrier_out", client.ask("cmd=barrier_in"));
                for (int other = 0; other < RANKS; other++) {
                    assertEquals(found("of-" + other), client.ask(get("card-" + round + "-" + other)));
                }
            }
            assertEquals("cmd=barrier_out", client.ask("cmd=barrier_in"));
            assertEquals("cmd=finalize_ack", client.ask("cmd=finalize"));
        }
    }

    @ParameterizedTest
    @CsvSource({"2, 2", "4, 2", "4, 16", "8, 2"})
    void eightRanksExchangeTheirCards(int agents, int fanOut) throws Exception {
        try (PmiNetwork network = network(agents, fanOut);
                ExecutorService ranks = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> incarnations = new ArrayList<>();
            for (int rank = 0; rank < RANKS; rank++) {
                int number = rank;
                incarnations.add(ranks.submit(() -> {
                    incarnation(network, number);
                    return null;
                }));
            }
            for (Future<?> incarnation : incarnations) {
                incarnation.get();
            }
            network.nodes.drain();
            for (PmiNetwork.Agent agent : network.agents) {
                assertNull(agent.heard.poll(), "nothing is wrong with a rank that finalises and leaves");
                assertEquals(1 + 2 * agent.span.count(), agent.server.state().pairs().size(),
                        "its own ranks' pairs and the mapping");
            }
        }
    }

    @Test
    void aKeyThatNobodyHasPutIsNotFound() throws Exception {
        try (PmiNetwork network = network(4, 2); PmiClient rank = network.rank(7)) {
            assertEquals("cmd=get_result rc=-1 msg=key_nothing_not_found value=unknown", rank.ask(get("nothing")));
            assertEquals("cmd=put_result rc=0 msg=success", network.rank(0).ask(put("nothing", "something")));
            network.nodes.drain();
            assertEquals(found("something"), rank.ask(get("nothing")), "that nobody had it is not remembered");
        }
    }

    @Test
    void aKeyThatRanksOfTwoAgentsPutEndsTheJobAndNamesIt() throws Exception {
        try (PmiNetwork network = network(4, 2)) {
            assertEquals("cmd=put_result rc=0 msg=success", network.rank(0).ask(put("twice", "first")));
            network.nodes.drain();
            assertEquals("cmd=put_result rc=0 msg=success", network.rank(5).ask(put("twice", "second")),
                    "the other agent is not asked");
            String heard = network.of(5).heard.poll(10, TimeUnit.SECONDS);
            assertTrue(heard.startsWith("contradicted ") && heard.contains("'twice'"), heard);
            assertEquals(found("first"), network.rank(6).ask(get("twice")));
        }
    }

    @Test
    void aKeyThatWasFetchedIsNotPut() throws Exception {
        try (PmiNetwork network = network(2, 2)) {
            network.rank(0).ask(put("known", "first"));
            network.nodes.drain();
            PmiClient rank = network.rank(7);
            assertEquals(found("first"), rank.ask(get("known")));
            rank.ask(put("known", "second"));
            String heard = network.of(7).heard.poll(10, TimeUnit.SECONDS);
            assertTrue(heard.startsWith("contradicted ") && heard.contains("'known'"), heard);
        }
    }

    @Test
    void anAbortAndADeathAreHeardByTheAgentOfTheRankAlone() throws Exception {
        try (PmiNetwork network = network(4, 2)) {
            network.rank(3).say("cmd=abort exitcode=9");
            assertEquals("aborted 3 9", network.of(3).heard.poll(10, TimeUnit.SECONDS));
            try (PmiClient rank = network.rank(6)) {
                rank.ask(INIT);
            }
            assertEquals("lost 6", network.of(6).heard.poll(10, TimeUnit.SECONDS));
            network.nodes.drain();
            assertTrue(network.agents.stream().allMatch(agent -> agent.heard.isEmpty()));
        }
    }

    @Test
    void aRankOfAnotherAgentIsNotServed() throws Exception {
        try (PmiNetwork network = network(2, 2); PmiClient stranger = network.of(0).rank(4)) {
            assertNull(stranger.hear());
        }
    }

    @Test
    void whatIsUnderWayIsInTheCounts() throws Exception {
        try (PmiNetwork network = network(4, 2)) {
            network.nodes.drain();
            PmiClient rank = network.rank(0);
            assertEquals("cmd=put_result rc=0 msg=success", rank.ask(put("a", "b")));
            network.nodes.drain();
            long quiet = network.of(2).server.traffic();
            long[] before = network.nodes.counts();
            try (AutoCloseable held = network.nodes.hold(3)) {
                PmiClient asks = network.rank(7);
                asks.say(get("a"));
                while (network.nodes.counts()[0] == before[0]) {
                    Thread.sleep(1);
                }
                long[] now = network.nodes.counts();
                assertNotEquals(now[0], now[1], "a rank waits for its answer");
                held.close();
                assertEquals(found("b"), asks.hear());
            }
            network.nodes.drain();
            assertEquals(quiet, network.of(2).server.traffic(), "a leaf that had no part in it");
            assertNotEquals(before[0], network.nodes.counts()[0]);
        }
    }

    @Test
    void anAnswerComesAnotherWayWhenANodeOnItsWayIsLostButNoBarrierEnds() throws Exception {
        MemoryNodes nodes = new MemoryNodes(1, 2, 4, Duration.ofMillis(300));
        try (PmiNetwork network = new PmiNetwork(directory, 1, nodes, PmiNetwork.spans(4, 2), null)) {
            network.rank(2).ask(put("card", "of-2"));
            nodes.drain();
            for (int rank = 2; rank < RANKS; rank++) {
                network.rank(rank).say("cmd=barrier_in");
            }
            nodes.kill(0); // node 1, above units 2 and 3
            PmiClient asks = network.of(7).rank(7);
            assertEquals(found("of-2"), asks.ask(get("card")));
            assertTrue(network.states().stream().skip(1).flatMap(state -> state.ranks().stream())
                    .allMatch(PmiState.RankState::inBarrier));
            long[] counts = nodes.counts();
            assertTrue(counts[0] > counts[1],
                    "what was sent to the lost node is under way for ever: " + counts[0] + ", " + counts[1]);
        }
    }

    @Test
    void aBarrierGoesOnInTheNextIncarnation() throws Exception {
        List<RankSpan> spans = List.of(new RankSpan(0, 2, 5), new RankSpan(2, 1, 5), new RankSpan(3, 2, 5));
        List<PmiState> states;
        try (PmiNetwork network = new PmiNetwork(directory, 1, 2, spans, null)) {
            for (int rank = 0; rank < 4; rank++) {
                PmiClient client = network.rank(rank);
                client.ask(INIT);
                client.ask(put("card-" + rank, "of-" + rank));
                client.say("cmd=barrier_in");
            }
            while (network.states().stream().flatMap(state -> state.ranks().stream())
                    .filter(PmiState.RankState::inBarrier).count() < 4) {
                Thread.sleep(1);
            }
            network.nodes.drain();
            states = network.states();
        }
        assertEquals(Map.of("PMI_process_mapping", "(vector,(0,4,2))", "card-2", "of-2"), states.get(1).pairs());
        assertFalse(states.get(2).ranks().get(1).inBarrier());
        try (PmiNetwork network = new PmiNetwork(directory, 2, 16, spans, states)) {
            List<PmiClient> inside = new ArrayList<>();
            for (int rank = 0; rank < 4; rank++) {
                inside.add(network.rank(rank));
                network.of(rank).server.awaitJoined(rank, Duration.ofSeconds(10));
            }
            PmiClient last = network.rank(4);
            network.nodes.drain();
            assertEquals(found("of-2"), last.ask(get("card-2")), "what was put in the incarnation before");
            assertEquals("cmd=barrier_out", last.ask("cmd=barrier_in"));
            for (PmiClient client : inside) {
                assertEquals("cmd=barrier_out", client.hear());
            }
            inside.forEach(client -> assertEquals(found("of-3"), ask(client, get("card-3"))));
        }
    }

    private static String ask(PmiClient client, String line) {
        try {
            return client.ask(line);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
