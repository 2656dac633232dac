package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.address.AddressMap;
import org.udckpt.address.HostAddress;
import org.udckpt.address.Transport;

/** Two processes with endpoints at all ports of two devices, one of them opened twice, over restarts. */
@Timeout(120)
class PortsTest {
    private static final int PORTS = 4;
    private static final int ENDPOINTS = PORTS + 1;
    private static final int RANKS = 2;
    // enum ibv_event_type, enum ibv_qp_state
    private static final int CQ_ERR = 0;
    private static final int DEVICE_FATAL = 8;
    private static final int PORT_ACTIVE = 9;
    private static final int PORT_ERR = 10;
    private static final int RTS = 3;
    private static final int ERR = 6;

    @TempDir
    Path scratch;
    private final List<Node> incarnations = new ArrayList<>();
    private final List<UdClient> clients = new ArrayList<>();
    private final List<String> seen = new ArrayList<>();

    @AfterEach
    void stop() throws Exception {
        for (UdClient client : clients) {
            client.close();
        }
        for (Node incarnation : incarnations) {
            incarnation.close();
        }
    }

    private void start(String dataPath) throws Exception {
        start(Map.of("UDCKPT_DATA_PATH", dataPath));
    }

    private void start(Map<String, String> settings) throws Exception {
        Node node = new Node(scratch.resolve("run0"), new AddressMap(), RANKS);
        incarnations.add(node);
        HostAddress host = node.map.newHost("a", PORTS);
        for (int rank = 0; rank < RANKS; rank++) {
            Map<String, String> environment = new TreeMap<>(node.environment(host));
            environment.putAll(Map.of("UDCKPT_SOFT_DEVICES", "2", "UDCKPT_SOFT_PORTS", "2"));
            environment.putAll(settings);
            clients.add(new UdClient(rank, Path.of(System.getProperty("udckpt.native")), environment,
                    List.of("ports_client")));
            seen.add(clients.get(rank).ask("open"));
            assertTrue(seen.get(rank).startsWith("address " + host.lid() + " "), seen.get(rank));
            assertEquals(1 + 3 * ENDPOINTS, seen.get(rank).split(" ").length, seen.get(rank));
        }
        node.server.await(RANKS, Node.SOON);
        for (UdClient client : clients) {
            for (String all : seen) {
                String[] words = all.split(" ");
                for (int i = 1; i < words.length; i += 3) {
                    client.ask("peer " + words[i] + " " + words[i + 1] + " " + words[i + 2]);
                }
            }
        }
    }

    /** Everybody to everybody, each process by itself, so that who receives knows that all has come. */
    private void exchange(int seed) throws Exception {
        for (UdClient from : clients) {
            assertEquals("sent " + RANKS * ENDPOINTS * ENDPOINTS, from.ask("send " + seed));
            for (UdClient to : clients) {
                assertEquals("received " + ENDPOINTS * ENDPOINTS,
                        to.ask("receive " + ENDPOINTS * ENDPOINTS + " " + seed));
            }
        }
        for (UdClient client : clients) {
            assertEquals("connected", client.ask("connection " + seed));
        }
    }

    /** Then the job's keys are not all the devices' own, in the first incarnation already; local and remote ones. */
    @ParameterizedTest
    @CsvSource({"fused", "generic"})
    void devicesThatCountTheirKeysAlike(String dataPath) throws Exception {
        start(Map.of("UDCKPT_DATA_PATH", dataPath, "UDCKPT_SOFT_KEYS", "7"));
        exchange(1);
        nextIncarnation(PORTS);
        exchange(2);
    }

    /** @param lids of each host of the next incarnations: as many as there are ports, or one for all of them */
    @ParameterizedTest
    @CsvSource({"fused,4", "fused,1", "generic,4", "generic,1"})
    void allPortsGoOnUnderTheirAddresses(String dataPath, int lids) throws Exception {
        start(dataPath);
        exchange(1);
        for (int incarnation = 1; incarnation <= 2; incarnation++) {
            nextIncarnation(lids);
            for (int rank = 0; rank < RANKS; rank++) {
                assertEquals(seen.get(rank), clients.get(rank).ask("address"),
                        "the job sees the addresses of its first incarnation");
            }
            exchange(1 + incarnation);
        }
        Node last = incarnations.getLast();
        for (int rank = 0; rank < RANKS; rank++) {
            assertEquals(2,
                    last.map.endpoints(rank).stream().filter(endpoint -> endpoint.transport() == Transport.RC).count());
            assertEquals(ENDPOINTS,
                    last.map.endpoints(rank).stream().filter(endpoint -> endpoint.transport() == Transport.UD).count());
            assertEquals(2, last.counters.of(rank).rcSends());
            assertEquals(RANKS * ENDPOINTS * ENDPOINTS, last.counters.of(rank).udSends());
        }
    }

    private void nextIncarnation(int lids) throws Exception {
        incarnations.add(Restart.simulated(scratch.resolve("run" + incarnations.size()), incarnations.getLast(),
                incarnations.getFirst().server.connections(), clients, lids));
    }

    /**
     * What a port told before the checkpoint is told once, and that it works again in the next incarnation. Endpoints
     * 0, 2 and 4 are each context's first.
     */
    @ParameterizedTest
    @CsvSource({"fused", "generic"})
    void portsThatGoDownAndTheirEvents(String dataPath) throws Exception {
        start(dataPath);
        UdClient client = clients.getFirst();
        assertEquals("raised 2", client.ask("raise soft0 " + PORT_ERR + " 2"));
        assertEquals("raised 1", client.ask("raise soft1 " + PORT_ERR + " 1"));
        assertEquals("raised 1", client.ask("raise soft1 " + PORT_ACTIVE + " 1"));
        nextIncarnation(PORTS);
        String downAndUp = PORT_ERR + ":%d " + "%d:" + PORT_ACTIVE + ":%d";
        assertEquals(
                "events 0:" + downAndUp.formatted(2, 0, 2) + " 2:" + downAndUp.formatted(1, 2, 1) + " 4:"
                        + downAndUp.formatted(2, 4, 2),
                client.ask("events"));
        assertEquals("events", client.ask("events"));
        assertEquals("events", clients.getLast().ask("events"));
        exchange(1);
        nextIncarnation(1); // all ports of all devices are on one now
        assertEquals("events", client.ask("events"));
        assertEquals("raised 3", client.ask("raise soft0 " + PORT_ERR + " 1"));
        String both = "%d:" + PORT_ERR + ":1 %d:" + PORT_ERR + ":2";
        assertEquals("events " + both.formatted(0, 0) + " " + both.formatted(2, 2) + " " + both.formatted(4, 4),
                client.ask("events"));
        nextIncarnation(PORTS);
        assertEquals(
                "events " + (both.formatted(0, 0) + " " + both.formatted(2, 2) + " " + both.formatted(4, 4))
                        .replace(":" + PORT_ERR + ":", ":" + PORT_ACTIVE + ":"),
                client.ask("events"));
        exchange(2);
    }

    /** The job was told that the device is gone: what it had stays in error, and the rest goes on. */
    @ParameterizedTest
    @CsvSource({"fused", "generic"})
    void aDeviceThatWasTakenAway(String dataPath) throws Exception {
        start(dataPath);
        UdClient client = clients.getFirst();
        assertEquals("raised 1", client.ask("raise soft1 " + DEVICE_FATAL + " 0"));
        nextIncarnation(PORTS);
        assertEquals("events 2:" + DEVICE_FATAL + ":0", client.ask("events"));
        assertEquals("state " + ERR, client.ask("state 2"));
        assertEquals("flushed 64", client.ask("flushed 2"));
        nextIncarnation(PORTS);
        assertEquals("events", client.ask("events"));
        assertEquals("state " + ERR, client.ask("state 3"));
        assertEquals("flushed 64", client.ask("flushed 3"));
        assertEquals("state " + RTS, client.ask("state 1"));
        assertEquals("flushed 0", client.ask("flushed 2"));
    }

    /**
     * A completion queue that has overflowed is lost for good, and so are its queue pairs: in the same incarnation and
     * in later ones.
     */
    @ParameterizedTest
    @CsvSource({"fused,true", "fused,false", "generic,true", "generic,false"})
    void anOverflowOutlivesARestart(String dataPath, boolean toldBefore) throws Exception {
        start(dataPath);
        String told = "events 0:" + CQ_ERR + ":1";
        assertEquals("overflowed", clients.getLast().ask("overflow"));
        assertEquals("lost " + ERR + " 4 1", clients.getLast().ask("lost"));
        assertEquals(told, clients.getLast().ask("events"));
        UdClient client = clients.getFirst();
        assertEquals("overflowed", client.ask("overflow"));
        if (toldBefore) {
            assertEquals(told, client.ask("events"));
        }
        nextIncarnation(PORTS);
        assertEquals(toldBefore ? "events" : told, client.ask("events"));
        assertEquals("lost " + ERR + " 4 1", client.ask("lost"));
        nextIncarnation(PORTS);
        assertEquals("events", client.ask("events"));
        assertEquals("lost " + ERR + " 0 0", client.ask("lost"));
        exchange(3);
    }

    /** What came before the checkpoint is delivered behind it, with the addresses of the port that it came to. */
    @ParameterizedTest
    @CsvSource({"fused", "generic"})
    void whatHadArrivedKeepsItsPort(String dataPath) throws Exception {
        start(dataPath);
        assertEquals("sent " + RANKS * ENDPOINTS * ENDPOINTS, clients.getFirst().ask("send 7"));
        nextIncarnation(PORTS);
        for (UdClient to : clients) {
            assertEquals("received " + ENDPOINTS * ENDPOINTS, to.ask("receive " + ENDPOINTS * ENDPOINTS + " 7"));
        }
    }
}
