package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.address.AddressMap;
import org.udckpt.address.Endpoint;
import org.udckpt.address.HostAddress;
import org.udckpt.address.RemapReport;

/** Real verbs programs under the library, first incarnation and simulated next incarnations in the same processes. */
@Timeout(270)
class UdVirtualizationTest {
    @TempDir
    Path scratch;
    private final List<Node> incarnations = new ArrayList<>();
    private final List<UdClient> clients = new ArrayList<>();
    private final String[] seen = new String[2];

    /** UDCKPT_DATA_PATH. */
    String dataPath() {
        return "fused";
    }

    UdClient client(int rank, Map<String, String> environment) throws Exception {
        return new UdClient(rank, environment);
    }

    /** Two ranks on one simulated host: they share a LID, which a restart takes apart. */
    @BeforeEach
    void start() throws Exception {
        AddressMap map = new AddressMap();
        Node node = new Node(scratch.resolve("run0"), map, 2);
        incarnations.add(node);
        HostAddress host = map.newHost("a");
        for (int rank = 0; rank < 2; rank++) {
            Map<String, String> environment = new HashMap<>(node.environment(host));
            environment.put("UDCKPT_DATA_PATH", dataPath());
            clients.add(client(rank, environment));
            seen[rank] = clients.get(rank).ask("open");
            assertTrue(seen[rank].startsWith("address " + host.lid() + " "), seen[rank]);
        }
        node.server.await(2, Node.SOON);
    }

    @AfterEach
    void stop() throws Exception {
        for (UdClient client : clients) {
            client.close();
        }
        for (Node incarnation : incarnations) {
            incarnation.close();
        }
    }

    private List<LibraryConnection> connections() {
        return incarnations.getFirst().server.connections();
    }

    private String lid(int rank) {
        return seen[rank].split(" ")[1];
    }

    private String qpn(int rank) {
        return seen[rank].split(" ")[2];
    }

    private String gid(int rank) {
        return seen[rank].split(" ")[3];
    }

    private void sendAndCheck(int from, int to, String text) throws Exception {
        assertEquals("sent 0", clients.get(from).ask("send " + lid(to) + " " + qpn(to) + " 1 " + text));
        assertEquals("received " + text + " from " + lid(from) + " " + qpn(from) + " grh none imm 0 qp " + qpn(to),
                clients.get(to).ask("receive 5000"));
    }

    private Node nextIncarnation() throws Exception {
        Node next = Restart.simulated(scratch.resolve("run" + incarnations.size()), incarnations.getLast(),
                connections(), clients);
        incarnations.add(next);
        return next;
    }

    @Test
    void theFirstIncarnationIsTheIdentity() throws Exception {
        for (Endpoint endpoint : incarnations.getFirst().map.endpoints()) {
            assertEquals(endpoint.virtual(), endpoint.real());
            assertEquals(qpn(endpoint.rank()), Integer.toString(endpoint.real().qpn()));
        }
        sendAndCheck(0, 1, "hello");
        sendAndCheck(1, 0, "world");
        sendAndCheck(0, 0, "self");
        var counters = incarnations.getFirst().counters.of(0);
        assertEquals(2, counters.udSends());
        assertEquals(2, counters.udRewrites());
        assertEquals(2, counters.udReceives());
        assertEquals(2, counters.udTranslations());
        assertEquals(1, counters.addressHandles(), "one host, one real address handle");
    }

    @Test
    void listsOfWorkRequestsPass() throws Exception {
        assertEquals("sent 39", clients.get(0).ask("send " + lid(1) + " " + qpn(1) + " 40 list"));
        for (int i = 0; i < 40; i++) {
            assertEquals("received list from " + lid(0) + " " + qpn(0) + " grh none imm " + i + " qp " + qpn(1),
                    clients.get(1).ask("receive 5000"));
        }
    }

    @Test
    void aRestartMovesTheAddressesUnderneath() throws Exception {
        sendAndCheck(0, 1, "before");
        for (int incarnation = 1; incarnation <= 5; incarnation++) {
            List<Endpoint> before = incarnations.getLast().map.endpoints();
            Node next = nextIncarnation();
            RemapReport report = RemapReport.of(before, next.map.endpoints());
            assertTrue(report.allMoved(), report.toString());
            assertNotEquals(next.map.endpoints(0).getFirst().real().lid(),
                    next.map.endpoints(1).getFirst().real().lid());
            for (int rank = 0; rank < 2; rank++) {
                assertEquals(seen[rank], clients.get(rank).ask("address"),
                        "the job sees the addresses of its first incarnation");
            }
            sendAndCheck(0, 1, "run" + incarnation);
            sendAndCheck(1, 0, "back" + incarnation);
            sendAndCheck(1, 1, "self" + incarnation);
            assertEquals(0, next.counters.of(0).tableMisses(),
                    "all endpoints of the agent's own ranks are in the new table");
        }
    }

    @Test
    void theGlobalRouteHeaderIsVirtualToo() throws Exception {
        nextIncarnation();
        assertEquals("sent 0", clients.get(0).ask("grh " + lid(1) + " " + qpn(1) + " " + gid(1) + " routed"));
        assertEquals("received routed from " + lid(0) + " " + qpn(0) + " grh " + gid(0) + " imm 0 qp " + qpn(1),
                clients.get(1).ask("receive 5000"));
    }

    @Test
    void whatArrivedBeforeTheCheckpointIsDeliveredAfterTheRestartInOrder() throws Exception {
        assertEquals("sent 19", clients.get(0).ask("send " + lid(1) + " " + qpn(1) + " 20 early"));
        nextIncarnation();
        for (int i = 0; i < 20; i++) {
            assertEquals("received early from " + lid(0) + " " + qpn(0) + " grh none imm " + i + " qp " + qpn(1),
                    clients.get(1).ask("receive 5000"));
        }
        sendAndCheck(0, 1, "late");
    }

    @Test
    void allPostedReceivesArePostedAgain() throws Exception {
        nextIncarnation();
        assertEquals("sent 63", clients.get(0).ask("send " + lid(1) + " " + qpn(1) + " 64 full"));
        for (int i = 0; i < 64; i++) {
            assertTrue(clients.get(1).ask("receive 5000").startsWith("received full "));
        }
    }

    @Test
    void aSleeperIsWokenInTheNextIncarnation() throws Exception {
        assertEquals("armed", clients.get(1).ask("sleep"));
        Thread.sleep(100);
        nextIncarnation();
        clients.get(0).ask("send " + lid(1) + " " + qpn(1) + " 1 wake");
        assertTrue(clients.get(1).line().startsWith("woken "));
    }

    @Test
    void aSleeperIsWokenByWhatADrainTook() throws Exception {
        Node.quiesceAndDrain(connections());
        Node.resume(connections());
        assertEquals("armed", clients.get(1).ask("sleep"));
        connections().get(1).quiesce(Node.SOON).join();
        clients.get(0).ask("send " + lid(1) + " " + qpn(1) + " 1 drained");
        connections().get(1).drain(Node.SOON).join();
        connections().get(1).resume(Node.SOON).join();
        assertEquals("woken drained from " + lid(0) + " " + qpn(0) + " grh none imm 0 qp " + qpn(1),
                clients.get(1).line());
    }

    @Test
    void theClosedGateHoldsVerbsUntilItOpens() throws Exception {
        Node.quiesceAndDrain(connections());
        clients.get(0).tell("send " + lid(1) + " " + qpn(1) + " 1 held");
        Thread.sleep(300);
        assertFalse(clients.get(0).ready(), "a verb went through a closed gate");
        Node.resume(connections());
        assertEquals("sent 0", clients.get(0).line());
        assertTrue(clients.get(1).ask("receive 5000").startsWith("received held "));
    }

    @Test
    void theGateClosesWhileThreadsPollWithoutPause() throws Exception {
        assertEquals("hammering", clients.get(0).ask("hammer"));
        for (int i = 0; i < 50; i++) {
            Node.quiesceAndDrain(connections());
            Node.resume(connections());
        }
        assertEquals("resting", clients.get(0).ask("rest"));
        sendAndCheck(0, 1, "after");
    }

    @Test
    void anUnknownPeerLosesTheDatagramAndIsCounted() throws Exception {
        assertEquals("sent 2", clients.get(0).ask("send 48000 77777 3 nowhere"));
        assertEquals(3, incarnations.getFirst().counters.of(0).unknownPeers());
        sendAndCheck(0, 1, "somewhere");
    }

    @Test
    void verbsInAForkedChildAreRefused() throws Exception {
        assertEquals("child 42", clients.get(0).ask("fork"));
        sendAndCheck(0, 1, "parent");
        Node.quiesceAndDrain(connections());
        Node.resume(connections());
    }

    @Test
    void aDeadAgentOpensTheGate() throws Exception {
        sendAndCheck(0, 1, "known");
        sendAndCheck(1, 0, "known");
        Node.quiesceAndDrain(connections());
        clients.get(0).tell("send " + lid(1) + " " + qpn(1) + " 1 alone");
        incarnations.getFirst().server.close();
        assertEquals("sent 0", clients.get(0).line());
        assertTrue(clients.get(1).ask("receive 5000").startsWith("received alone "));
    }

    @Test
    void aRebuildThatFailsNamesTheObject() throws Exception {
        Node.quiesceAndDrain(connections());
        Node next = new Node(scratch.resolve("run1"), incarnations.getLast().map.nextIncarnation(), 2);
        incarnations.add(next);
        Message.Rebuild order = next.rebuild(next.map.newHost("b"));
        Message.Rebuild wrong = new Message.Rebuild(0, order.generation(), order.realLid(), order.realLids(),
                order.qpnFirst(), order.qpnLast(),
                0, order.realGid(), "mlx5_7", order.runtimeDir());
        CompletionException failure = assertThrows(CompletionException.class,
                () -> connections().getFirst().rebuild(wrong, Node.SOON).join());
        assertTrue(failure.getMessage().contains("verbs device mlx5_7"), failure.getMessage());
    }
}
