package org.udckpt.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import org.apache.arrow.flight.Action;
import org.apache.arrow.flight.AsyncPutListener;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Damaged frames from somebody who holds the job's credential: refused or taken, and the endpoint lives and leaks
 * nothing.
 */
@Timeout(120)
class LinkFuzzTest {
    private static final int ROUNDS = 300, RAW_ROUNDS = 60, SENDER = 77;
    /** The endpoint waits for what a damaged call still owes it; nothing depends on how long. */
    private static final Duration LONGEST_CALL = Duration.ofMillis(500);

    @Tag("slow")
    @Test
    void damagedCallsHarmNobody() throws Exception {
        long seed = Long.getLong("udckpt.seed", 6);
        Random random = new Random(seed);
        List<byte[]> put = framesOfATable();
        byte[] action = LinkSecurityTest.protocol(
                new Action(Delivery.MESSAGES, new Envelope(SENDER, 1, 1, List.of(new byte[40], new byte[3])).encode()));
        try (Nodes nodes = new Nodes(2, Nodes.quick())) {
            try (Stranger member = new Stranger(nodes.endpoints.get(1).address(), LinkTls.client(nodes.credential),
                    nodes.credential)) {
                int refused = 0;
                for (int round = 0; round < ROUNDS; round++) {
                    boolean table = random.nextInt(4) > 0;
                    List<byte[]> frames = new ArrayList<>(table ? put : List.of(action));
                    damage(frames, random);
                    refused += member.call(table ? "DoPut" : "DoAction", frames, LONGEST_CALL) == null ? 0 : 1;
                }
                assertFalse(refused < ROUNDS / 10,
                        "only " + refused + " of " + ROUNDS + " were refused: is anything damaged? seed " + seed);
            }
            assertAlive(nodes, seed);
        } // the allocator says when a buffer is left
    }

    private static void assertAlive(Nodes nodes, long seed) throws InterruptedException {
        nodes.received.get(1).items.removeIf(item -> item.from() != 0);
        nodes.endpoints.get(0).send(1, Nodes.number(5));
        Received.Item item = nodes.received.get(1).items.poll(30, TimeUnit.SECONDS);
        assertNotNull(item, "seed " + seed);
        assertEquals(5, Nodes.number(item.bytes()), "seed " + seed);
    }

    private static void damage(List<byte[]> frames, Random random) {
        for (int times = 1 + random.nextInt(3); times > 0; times--) {
            int which = random.nextInt(frames.size());
            byte[] frame = frames.get(which).clone();
            switch (random.nextInt(6)) {
                case 0 -> frames.set(which, java.util.Arrays.copyOf(frame, random.nextInt(frame.length + 1)));
                case 1 -> frames.add(which, frame);
                case 2 -> Collections.shuffle(frames, random);
                case 3 -> frames.set(which, new byte[random.nextInt(64)]);
                default -> {
                    for (int flips = 1 + random.nextInt(4); flips > 0 && frame.length > 0; flips--) {
                        frame[random.nextInt(frame.length)] = (byte) random.nextInt();
                    }
                    frames.set(which, frame);
                }
            }
        }
    }

    /** What a Flight client sends of a small table of numbers and texts, as a server sees it. */
    private static List<byte[]> framesOfATable() throws Exception {
        List<byte[]> frames = Collections.synchronizedList(new ArrayList<>());
        var method = Stranger.method(Stranger.SERVICE + "DoPut");
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(ServerServiceDefinition.builder("arrow.flight.protocol.FlightService")
                        .addMethod(method, ServerCalls.asyncBidiStreamingCall(
                                (StreamObserver<byte[]> answer) -> new StreamObserver<byte[]>() {
                                    @Override
                                    public void onNext(byte[] frame) {
                                        frames.add(frame);
                                    }

                                    @Override
                                    public void onError(Throwable failure) {
                                        answer.onError(failure);
                                    }

                                    @Override
                                    public void onCompleted() {
                                        answer.onCompleted();
                                    }
                                }))
                        .build())
                .build().start();
        ManagedChannel channel = NettyChannelBuilder.forAddress(server.getListenSockets().getFirst()).usePlaintext()
                .proxyDetector(target -> null).build();
        try (BufferAllocator allocator = new RootAllocator();
                FlightClient client = FlightGrpcUtils.createFlightClient(allocator, channel);
                VectorSchemaRoot numbers = Nodes.table(allocator, 20);
                VarCharVector texts = new VarCharVector("text", allocator)) {
            texts.allocateNew();
            for (int row = 0; row < 20; row++) {
                texts.setSafe(row, ("row " + row).getBytes());
            }
            texts.setValueCount(20);
            VectorSchemaRoot table = new VectorSchemaRoot(List.of(numbers.getVector(0), texts));
            AsyncPutListener receipt = new AsyncPutListener();
            var stream =
                    client.startPut(FlightDescriptor.command(new Envelope(SENDER, 1, 1, List.of(new byte[8])).encode()),
                            table, receipt);
            stream.putNext();
            stream.putNext();
            stream.completed();
            receipt.getResult();
        } finally {
            channel.shutdownNow();
            server.shutdownNow();
        }
        assertEquals(3, frames.size(), "a schema and two batches");
        return frames;
    }

    /** Inside of TLS, but not what HTTP/2 allows. */
    @Test
    void damagedStreamsHarmNobody() throws Exception {
        long seed = Long.getLong("udckpt.seed", 7);
        Random random = new Random(seed);
        try (Nodes nodes = new Nodes(2, Nodes.quick())) {
            SSLContext tls = memberTls(nodes.credential);
            InetSocketAddress target = nodes.endpoints.get(1).address();
            for (int round = 0; round < RAW_ROUNDS; round++) {
                try (SSLSocket socket =
                        (SSLSocket) tls.getSocketFactory().createSocket(target.getAddress(), target.getPort())) {
                    var parameters = socket.getSSLParameters();
                    parameters.setApplicationProtocols(new String[]{"h2"});
                    socket.setSSLParameters(parameters);
                    socket.setSoTimeout(100);
                    byte[] garbage = new byte[random.nextInt(2000)];
                    random.nextBytes(garbage);
                    if (random.nextBoolean()) {
                        socket.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes());
                        garbage = frame(random, garbage);
                    }
                    socket.getOutputStream().write(garbage);
                    socket.getOutputStream().flush();
                } catch (java.io.IOException e) {
                    // it hung up on us: as it should
                }
            }
            assertAlive(nodes, seed);
        }
    }

    /** An HTTP/2 frame of random kind, flags and stream. */
    private static byte[] frame(Random random, byte[] content) {
        byte[] frame = new byte[9 + content.length];
        int length = random.nextInt(3) == 0 ? random.nextInt(1 << 24) : content.length;
        frame[0] = (byte) (length >> 16);
        frame[1] = (byte) (length >> 8);
        frame[2] = (byte) length;
        frame[3] = (byte) random.nextInt(12);
        frame[4] = (byte) random.nextInt();
        frame[8] = (byte) random.nextInt(8);
        System.arraycopy(content, 0, frame, 9, content.length);
        return frame;
    }

    private static SSLContext memberTls(JobCredential credential) throws Exception {
        java.security.KeyStore keys = java.security.KeyStore.getInstance("PKCS12");
        keys.load(null, null);
        keys.setKeyEntry("job", credential.key(), new char[0],
                new java.security.cert.Certificate[]{credential.certificate()});
        var managers =
                javax.net.ssl.KeyManagerFactory.getInstance(javax.net.ssl.KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, new char[0]);
        SSLContext tls = SSLContext.getInstance("TLSv1.3");
        tls.init(managers.getKeyManagers(), new TrustManager[]{new PinnedCertificate(credential.certificate())}, null);
        return tls;
    }
}
