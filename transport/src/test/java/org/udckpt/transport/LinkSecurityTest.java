package org.udckpt.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.arrow.flight.Action;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.coordination.tree.TreeTransport;

/**
 * A peer outside of the job gets nothing, and a peer of the job that errs harms nobody: after each attack the job's
 * nodes communicate as before.
 */
@Timeout(120)
class LinkSecurityTest {
    private static final int SECONDS = 30, STRANGERS_OF_ONE = 8, STRANGERS = 16;

    private Nodes nodes;
    private long refusedBefore;

    @BeforeEach
    void start() throws IOException {
        TransportLimits quick = Nodes.quick();
        nodes = new Nodes(2, new TransportLimits(STRANGERS, STRANGERS_OF_ONE, 64, Duration.ofSeconds(3),
                quick.frameBytes(), quick.tableBytes(), quick.queueBytes(),
                quick.messageCall(), quick.tableCall(), quick.firstPause(), quick.longestPause(), quick.idle()));
        refusedBefore = nodes.endpoints.get(1).refused();
    }

    @AfterEach
    void theJobGoesOn() throws Exception {
        try {
            for (long number = 0; number < 20; number++) {
                nodes.endpoints.get(0).send(1, Nodes.number(number));
                Received.Item item = nodes.received.get(1).items.poll(SECONDS, TimeUnit.SECONDS);
                assertNotNull(item, "the job's own message did not come");
                assertEquals(number, Nodes.number(item.bytes()), "another message came");
                assertEquals(0, item.from());
            }
        } finally {
            nodes.close();
        }
    }

    private InetSocketAddress target() {
        return nodes.endpoints.get(1).address();
    }

    private void assertRefused(int times) throws InterruptedException {
        while (nodes.endpoints.get(1).refused() < refusedBefore + times) {
            Thread.sleep(10); // a connection's end is seen a moment later; the test's time limit bounds it
        }
    }

    private static byte[] message() {
        byte[] envelope = new Envelope(7, 1, 1, List.of("not for you".getBytes(StandardCharsets.UTF_8))).encode();
        return protocol(new Action(Delivery.MESSAGES, envelope));
    }

    /** Protocol buffers of an action: field 1 its type, field 2 its body. */
    static byte[] protocol(Action action) {
        return org.apache.arrow.flight.impl.Flight.Action.newBuilder().setType(action.getType())
                .setBody(com.google.protobuf.ByteString.copyFrom(action.getBody())).build().toByteArray();
    }

    private void assertCall(Status.Code expected, SslContext tls, JobCredential token, byte[]... messages)
            throws InterruptedException {
        try (Stranger stranger = new Stranger(target(), tls, token)) {
            StatusRuntimeException how = stranger.call("DoAction", List.of(messages), Duration.ofSeconds(SECONDS));
            assertNotNull(how, "the call was taken");
            assertEquals(expected, how.getStatus().getCode(), how.toString());
        }
    }

    @Test
    void aCallWithoutTokenIsRefused() throws Exception {
        assertCall(Status.Code.UNAUTHENTICATED, LinkTls.client(nodes.credential), null, message());
        assertRefused(1);
    }

    @Test
    void aCallWithAnotherTokenIsRefused() throws Exception {
        assertCall(Status.Code.UNAUTHENTICATED, LinkTls.client(nodes.credential), JobCredential.generate(), message());
        assertRefused(1);
    }

    @Test
    void nothingOfACallIsReadBeforeItsToken() throws Exception {
        byte[] endless = new byte[nodes.limits.frameBytes() * 4]; // would be refused for its length, were it read
        assertCall(Status.Code.UNAUTHENTICATED, LinkTls.client(nodes.credential), null, endless);
        assertRefused(1);
    }

    @Test
    void anotherJobsCertificateIsRefusedByTheServer() throws Exception {
        JobCredential other = JobCredential.generate();
        SslContext tls = GrpcSslContexts.configure(GrpcSslContexts.forClient(), SslProvider.JDK)
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .keyManager(other.key(), other.certificate()).build();
        assertCall(Status.Code.UNAVAILABLE, tls, nodes.credential, message());
        assertRefused(1);
    }

    @Test
    void anotherJobsCertificateIsRefusedByTheClient() throws Exception {
        Received elsewhere = new Received();
        try (TransportEndpoint otherJob = new TransportEndpoint(3, Nodes.COUNT, Nodes.address(3, 0),
                JobCredential.generate(), elsewhere, nodes.limits)) {
            nodes.endpoints.get(0).reach(3, otherJob.address());
            nodes.endpoints.get(0).send(3, message());
            while (otherJob.refused() == 0) {
                Thread.sleep(10);
            }
            assertTrue(elsewhere.items.isEmpty());
        }
        nodes.endpoints.get(0).forget(3);
    }

    @Test
    void aClientWithoutCertificateIsRefused() throws Exception {
        SslContext tls = GrpcSslContexts.configure(GrpcSslContexts.forClient(), SslProvider.JDK)
                .trustManager(InsecureTrustManagerFactory.INSTANCE).build();
        assertCall(Status.Code.UNAVAILABLE, tls, nodes.credential, message());
        assertRefused(1);
    }

    @Test
    void plainTextIsRefused() throws Exception {
        assertCall(Status.Code.UNAVAILABLE, null, nodes.credential, message());
        try (Socket socket = new Socket(target().getAddress(), target().getPort())) {
            socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertEndsWithout(socket, "HTTP");
        }
        assertRefused(2);
    }

    private static void assertEndsWithout(Socket socket, String words) throws IOException {
        socket.setSoTimeout(SECONDS * 1000);
        ByteArrayReader answer = new ByteArrayReader(socket);
        assertTrue(!answer.text().contains(words), "an answer: " + answer.text());
    }

    /** All that a socket gives until its end, by close or reset. */
    private static final class ByteArrayReader {
        private final java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();

        ByteArrayReader(Socket socket) throws IOException {
            try {
                socket.getInputStream().transferTo(bytes);
            } catch (java.net.SocketException reset) {
                // an end like another
            }
        }

        String text() {
            return bytes.toString(StandardCharsets.ISO_8859_1);
        }
    }

    @Test
    void aPortScanIsRefused() throws Exception {
        for (int i = 0; i < 100; i++) {
            new Socket(target().getAddress(), target().getPort()).close();
        }
        assertRefused(50); // some may be gone before they are accepted
    }

    @Test
    void slowHandshakesEndAndTakeNobodysPlace() throws Exception {
        List<Socket> slow = new ArrayList<>();
        try {
            for (int i = 0; i < 3 * STRANGERS_OF_ONE; i++) {
                slow.add(open("127.0.0.1"));
            }
            for (Socket socket : slow) {
                try {
                    socket.getOutputStream().write(0x16); // the first byte of a handshake, and no other
                } catch (IOException e) {
                    // refused at once: one of those too many
                }
            }
            assertRefused(2 * STRANGERS_OF_ONE);
            nodes.endpoints.get(0).send(1, Nodes.number(99)); // from another address: its places are its own
            assertEquals(99, Nodes.number(nodes.received.get(1).items.poll(SECONDS, TimeUnit.SECONDS).bytes()));
            for (Socket socket : slow) {
                assertEndsWithout(socket, "HTTP"); // in a bounded time
            }
            assertRefused(3 * STRANGERS_OF_ONE);
        } finally {
            for (Socket socket : slow) {
                socket.close();
            }
        }
    }

    /** Any user of a node's host has the node's address. */
    @Test
    void halfHandshakesThatAreRenewedKeepNoNodeOfTheSameAddressOut() throws Exception {
        String node = Nodes.address(0, 0).getAddress().getHostAddress();
        AtomicBoolean ends = new AtomicBoolean();
        CountDownLatch full = new CountDownLatch(1);
        Thread hog = Thread.ofPlatform().daemon().start(() -> hold(node, STRANGERS_OF_ONE + 4, ends, full));
        try {
            assertTrue(full.await(SECONDS, TimeUnit.SECONDS));
            for (long number = 0; number < 5; number++) {
                nodes.endpoints.get(0).forget(1);
                nodes.endpoints.get(0).reach(1, target()); // by a new connection
                nodes.endpoints.get(0).send(1, Nodes.number(number));
                assertEquals(number, Nodes.number(nodes.received.get(1).items.poll(SECONDS, TimeUnit.SECONDS).bytes()));
            }
        } finally {
            ends.set(true);
            hog.join();
        }
    }

    /** So many connections at once, each with the beginning of a handshake; what ends is made anew. */
    private void hold(String from, int count, AtomicBoolean ends, CountDownLatch full) {
        List<SocketChannel> held = new ArrayList<>();
        try {
            while (!ends.get()) {
                for (SocketChannel one : List.copyOf(held)) {
                    if (isOver(one)) {
                        one.close();
                        held.remove(one);
                    }
                }
                while (held.size() < count) {
                    SocketChannel one = SocketChannel.open().bind(new InetSocketAddress(from, 0));
                    held.add(one);
                    if (one.connect(target())) {
                        one.configureBlocking(false);
                        // a record of 512 bytes, a ClientHello
                        one.write(ByteBuffer.wrap(new byte[]{0x16, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc}));
                    }
                }
                full.countDown();
                Thread.sleep(20);
            }
            for (SocketChannel one : held) {
                one.close();
            }
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean isOver(SocketChannel one) {
        try {
            return one.read(ByteBuffer.allocate(100)) < 0;
        } catch (IOException e) {
            return true; // reset
        }
    }

    private Socket open(String from) throws IOException {
        return new Socket(target().getAddress(), target().getPort(), InetAddress.getByName(from), 0);
    }

    @Test
    void tooManyConnectionsOfManyAddressesAreRefused() throws Exception {
        List<Socket> many = new ArrayList<>();
        try {
            for (int i = 0; i < 2 * STRANGERS; i++) {
                many.add(open("127.1.0." + (i / 4 + 1)));
            }
            assertRefused(STRANGERS);
        } finally {
            for (Socket socket : many) {
                socket.close();
            }
        }
    }

    @Test
    void aFrameThatIsTooLongIsRefused() throws Exception {
        byte[] body = new byte[nodes.limits.frameBytes() + 1];
        assertCall(Status.Code.RESOURCE_EXHAUSTED, LinkTls.client(nodes.credential), nodes.credential,
                protocol(new Action(Delivery.MESSAGES, body)));
        assertRefused(1);
    }

    @Test
    void unknownActionsAndMethodsAreRefused() throws Exception {
        assertCall(Status.Code.UNIMPLEMENTED, LinkTls.client(nodes.credential), nodes.credential,
                protocol(new Action("shutdown", new byte[3])));
        try (Stranger member = new Stranger(target(), LinkTls.client(nodes.credential), nodes.credential)) {
            for (String method : List.of("ListFlights", "GetFlightInfo", "DoGet", "ListActions", "DoExchange",
                    "NoSuchMethod", "Handshake")) {
                StatusRuntimeException how = member.call(method, List.of(new byte[0]), Duration.ofSeconds(SECONDS));
                assertNotNull(how, method + " was answered");
                assertEquals(Status.Code.UNIMPLEMENTED, how.getStatus().getCode(), method);
            }
        }
        assertRefused(2);
    }

    @Test
    void shipmentsThatMakeNoSenseAreRefused() throws Exception {
        byte[] sensible = new Envelope(7, 1, 1, List.of(new byte[5])).encode();
        byte[] version = sensible.clone();
        version[3] = 9;
        byte[] length = sensible.clone();
        length[Envelope.HEADER_BYTES + 3] = 99;
        byte[] longPart = new byte[TreeTransport.MAX_MESSAGE_BYTES + 1];
        for (byte[] body : List.of(new byte[0], new byte[3], version, length,
                new Envelope(7, 1, 1, List.of(longPart)).encode(),
                new Envelope(-1, 1, 1, List.of()).encode(), new Envelope(Nodes.COUNT, 1, 1, List.of()).encode(),
                new Envelope(1, 1, 1, List.of()).encode(), new Envelope(7, 1, 0, List.of()).encode())) {
            assertCall(Status.Code.INVALID_ARGUMENT, LinkTls.client(nodes.credential), nodes.credential,
                    protocol(new Action(Delivery.MESSAGES, body)));
        }
        assertRefused(9);
    }
}
