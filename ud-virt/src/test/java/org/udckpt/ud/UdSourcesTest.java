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
    /** FOREIGN_KEPT of virtual_source.c, and some that find no place. */
    private static final int KEPT = 1024, TOO_MANY = 40;
    private static final int WIRE_MAGIC = 0x55444631, WIRE_BYTES = 32, PKEY = 0xffff, QKEY = 0x1234;
    private static final int FOREIGN_LID = 0x4321, FOREIGN_QPN = 0x1000;
    private static final int RECEIVER = 2;

    @TempDir Path scratch;
    private final List<UdClient> clients = new ArrayList<>();
    private final String[] addresses = new String[3];
    private Node node;
    private AddressMap map;

    @BeforeEach
    void start() throws Exception {
        map = new AddressMap();
        node = new Node(scratch.resolve("life"), map, 3);
    }

    /** Ranks 0 and 1 get queue pairs whose sources share a slot, rank 2 is the receiver. */
    private void open(String lending) throws Exception {
        HostAddress host = map.newHost("a");
        for (int rank = 0; rank < 3; rank++) {
            int qpn = host.qpnFirst() + rank * SLOTS;
            Map<String, String> environment = new HashMap<>(node.environment(host));
            environment.putAll(Map.of("UDCKPT_LENDING", lending, "UDCKPT_SOFT_QPNS", qpn + "-" + qpn));
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
    @ValueSource(strings = {"1", "0"})
    void sourcesThatShareASlotAreRememberedSideBySide(String lending) throws Exception {
        open(lending);
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

    /** Anybody can make up sources: each is delivered as it is, and no more than a bounded number is remembered. */
    @ParameterizedTest
    @ValueSource(strings = {"1", "0"})
    void foreignSourcesAreRememberedUpToABound(String lending) throws Exception {
        open(lending);
        sendFrom(0);
        long before = lookups();
        try (DatagramSocket stranger = new DatagramSocket()) {
            for (int i = 0; i < KEPT + TOO_MANY; i++) {
                forge(stranger, FOREIGN_QPN + i);
            }
            assertEquals(before + KEPT + TOO_MANY, lookups(), "each new one is asked for");
            forge(stranger, FOREIGN_QPN);
            forge(stranger, FOREIGN_QPN + KEPT - 1);
            assertEquals(before + KEPT + TOO_MANY, lookups(), "the first ones are remembered");
            forge(stranger, FOREIGN_QPN + KEPT);
            forge(stranger, FOREIGN_QPN + KEPT);
            assertEquals(before + KEPT + TOO_MANY + 2, lookups(), "those beyond the bound are not");
            assertEquals(KEPT + TOO_MANY + 4, foreign());
        }
        sendFrom(1);
        long known = lookups();
        sendFrom(1);
        sendFrom(0);
        assertEquals(known, lookups(), "the job's own are remembered all the same");
    }

    /** A datagram as docs/soft-fabric.md and soft_wire.h describe it, from a queue pair that does not exist. */
    private void forge(DatagramSocket stranger, int qpn) throws Exception {
        String[] to = addresses[RECEIVER].split(" ");
        int lid = Integer.parseInt(to[0]), port = Integer.parseInt(to[1]);
        byte[] text = "forged\0".getBytes(StandardCharsets.US_ASCII);
        ByteBuffer datagram = ByteBuffer.allocate(WIRE_BYTES + text.length);
        datagram.putInt(WIRE_MAGIC).putInt(port).putInt(QKEY).putInt(qpn).putShort((short) FOREIGN_LID).putShort((short) PKEY);
        datagram.position(WIRE_BYTES);
        datagram.put(text);
        InetAddress host = InetAddress.getByAddress(new byte[] {127, 77, (byte) (lid >> 8), (byte) lid});
        stranger.send(new DatagramPacket(datagram.array(), datagram.capacity(), host, port));
        expect("forged", FOREIGN_LID + " " + qpn);
    }
}
