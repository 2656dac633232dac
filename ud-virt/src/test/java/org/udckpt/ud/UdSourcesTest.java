package org.udckpt.ud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.address.AddressMap;
import org.udckpt.address.CountersFile.Counters;
import org.udckpt.address.HostAddress;

/** What a receiver remembers of the sources of its datagrams (virtual_source.c), seen by how often it looks one up. */
@Timeout(270)
class UdSourcesTest {
    /** Sources whose LID and QPN agree in this many bits share a slot. */
    private static final int SLOTS = 256;
    private static final int MANY = 100;
    /** MANY of soft_refuse.c. */
    private static final int FLOOD = 1024;
    private static final int WIRE_MAGIC = 0x55444631, WIRE_BYTES = 32, PKEY = 0xffff, QKEY = 0x1234;
    private static final int FOREIGN_LID = 0x4321, FOREIGN_QPN = 0x1000;
    private static final int RECEIVER = 2;

    @TempDir
    Path scratch;
    private final List<UdClient> clients = new ArrayList<>();
    private final String[] addresses = new String[3];
    private Node node;
    private AddressMap map;

    @BeforeEach
    void start() throws Exception {
        map = new AddressMap();
        node = new Node(scratch.resolve("run"), map, 3);
    }

    /** Ranks 0 and 1 get queue pairs whose sources share a slot, rank 2 is the receiver. */
    private void open(String dataPath) throws Exception {
        HostAddress host = map.newHost("a");
        for (int rank = 0; rank < 3; rank++) {
            int qpn = host.qpnFirst() + rank * SLOTS;
            Map<String, String> environment = new HashMap<>(node.environment(host));
            environment.putAll(Map.of("UDCKPT_DATA_PATH", dataPath, "UDCKPT_SOFT_QPNS", qpn + "-" + qpn));
            clients.add(new UdClient(rank, environment));
            addresses[rank] = clients.get(rank).ask("open").replaceFirst("address (\\d+ \\d+) .*", "$1");
            assertEquals(host.lid() + " " + qpn, addresses[rank]);
        }
        node.server.await(3, Node.SOON);
    }

    @AfterEach
    void stop() throws Exception {
        for (UdClient client : clients) {
            client.close();
        }
        node.close();
    }

    private void expect(String text, String source) throws Exception {
        String line = clients.get(RECEIVER).ask("receive 10000");
        assertTrue(line.startsWith("received " + text + " from " + source + " grh none "), line);
    }

    /** Look-ups beyond the receiver's own memory: in the table, or at the agent. */
    private long lookups() {
        Counters counters = node.counters.of(RECEIVER);
        return counters.cacheMisses() + counters.tableMisses();
    }

    private long foreign() {
        Counters counters = node.counters.of(RECEIVER);
        return counters.udReceives() - counters.udTranslations();
    }

    @ParameterizedTest
    @ValueSource(strings = {"fused", "generic"})
    void sourcesThatShareASlotAreRememberedSideBySide(String dataPath) throws Exception {
        open(dataPath);
        for (int turn = 0; turn < 4; turn++) {
            sendFrom(turn % 2);
        }
        long before = lookups();
        assertTrue(before >= 2, "both sources were looked up once");
        for (int turn = 0; turn < 100; turn++) {
            sendFrom(turn % 2);
        }
        assertEquals(before, lookups(), "neither has put the other out");
        assertEquals(0, foreign());
    }

    private void sendFrom(int rank) throws Exception {
        assertEquals("sent 0", clients.get(rank).ask("send " + addresses[RECEIVER] + " 1 turn"));
        expect("turn", addresses[rank]);
    }

    /**
     * Anybody can make up sources. From a socket that is not where they say, datagrams are not taken; nor from one that
     * is, if nobody of the job is there. Neither takes a posted receive, nor is the agent asked.
     */
    @ParameterizedTest
    @ValueSource(strings = {"fused", "generic"})
    void strangersAreNotListenedTo(String dataPath) throws Exception {
        open(dataPath);
        sendFrom(0);
        long before = lookups();
        try (DatagramSocket liar = new DatagramSocket();
                DatagramSocket stranger = new DatagramSocket(FOREIGN_QPN, host(FOREIGN_LID));
                DatagramSocket neighbour = new DatagramSocket(FOREIGN_QPN, host(lid(0)))) {
            for (int i = 0; i < MANY; i++) {
                forge(liar, FOREIGN_LID, FOREIGN_QPN + i);
                forge(liar, lid(0), qpn(0)); // a known one's name
                forge(stranger, FOREIGN_LID, FOREIGN_QPN);
                forge(stranger, lid(0), qpn(0));
                forge(neighbour, lid(0), FOREIGN_QPN);
                if (i % 20 == 0) { // among them the job's own, in order
                    sendFrom(0);
                    sendFrom(1);
                }
            }
            sendFrom(0);
            assertEquals(0, foreign(), "none was delivered");
            assertEquals(5 * MANY, node.counters.of(RECEIVER).refused());
        }
        assertTrue(lookups() - before <= 1, "only rank 1 was looked up");
        assertEquals(0, node.counters.of(RECEIVER).tableMisses(), "the agent was asked for no stranger");
    }

    /**
     * From the moment when there were very many of them, the kernel drops those that are not from where they say, so
     * that they take no room in the buffer.
     */
    @ParameterizedTest
    @ValueSource(strings = {"fused", "generic"})
    void aFloodIsStoppedByTheKernel(String dataPath) throws Exception {
        open(dataPath);
        try (DatagramSocket liar = new DatagramSocket()) {
            for (int i = 0; i < 3 * FLOOD; i++) {
                forge(liar, lid(0), qpn(0));
                if (i % 100 == 99) {
                    sendFrom(0);
                }
            }
        }
        sendFrom(1);
        long refused = node.counters.of(RECEIVER).refused();
        assertTrue(refused >= FLOOD && refused <= FLOOD + 100, refused + " were counted before");
    }

    /** What a process sent before it destroyed its queue pair, or ended, is taken afterwards, too. */
    @ParameterizedTest
    @ValueSource(strings = {"fused", "generic"})
    void whatWasSentBeforeTheEndArrives(String dataPath) throws Exception {
        open(dataPath);
        assertEquals("sent 0", clients.get(0).ask("send " + addresses[RECEIVER] + " 1 last"));
        assertEquals("destroyed 0", clients.get(0).ask("destroy"));
        expect("last", addresses[0]);
        assertEquals("sent 0", clients.get(1).ask("send " + addresses[RECEIVER] + " 1 very"));
        clients.get(1).close();
        expect("very", addresses[1]);
    }

    private int lid(int rank) {
        return Integer.parseInt(addresses[rank].split(" ")[0]);
    }

    private int qpn(int rank) {
        return Integer.parseInt(addresses[rank].split(" ")[1]);
    }

    private static InetAddress host(int lid) throws Exception {
        return InetAddress.getByAddress(new byte[]{127, 77, (byte) (lid >> 8), (byte) lid});
    }

    /**
     * A datagram as docs/internals/soft-fabric.md and soft_wire.h describe it, right in everything, that says it is
     * from there.
     */
    private void forge(DatagramSocket stranger, int lid, int qpn) throws Exception {
        byte[] text = "forged\0".getBytes(StandardCharsets.US_ASCII);
        ByteBuffer datagram = ByteBuffer.allocate(WIRE_BYTES + text.length);
        datagram.putInt(WIRE_MAGIC).putInt(qpn(RECEIVER)).putInt(QKEY).putInt(qpn).putShort((short) lid)
                .putShort((short) PKEY);
        datagram.position(WIRE_BYTES);
        datagram.put(text);
        stranger.send(new DatagramPacket(datagram.array(), datagram.capacity(), host(lid(RECEIVER)), qpn(RECEIVER)));
    }
}
