package org.udckpt.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/** Endpoints of one job in this JVM, each at an address of its own on loopback (127.88.x.y), for tests. */
final class Nodes implements AutoCloseable {
    /** Numbers below it are nodes. */
    static final int COUNT = 100;

    final JobCredential credential = JobCredential.generate();
    final List<TransportEndpoint> endpoints = new ArrayList<>();
    final List<Received> received = new ArrayList<>();
    final TransportLimits limits;

    Nodes(int count, TransportLimits limits) throws IOException {
        this.limits = limits;
        try {
            for (int node = 0; node < count; node++) {
                received.add(new Received());
                endpoints.add(new TransportEndpoint(node, Nodes.COUNT, address(node, 0), credential, received.get(node),
                        limits));
            }
            for (int node = 0; node < count; node++) {
                introduce(node);
            }
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Quick ones, so that tests need not wait for what takes long in a job. */
    static TransportLimits quick() {
        TransportLimits usual = TransportLimits.usual();
        return new TransportLimits(16, 8, 64, Duration.ofSeconds(10), usual.frameBytes(), 32L << 20, 4L << 20,
                Duration.ofSeconds(2), Duration.ofSeconds(20),
                Duration.ofMillis(10), Duration.ofMillis(200), usual.idle());
    }

    /** All others learn where a node is. */
    void introduce(int node) {
        for (int other = 0; other < endpoints.size(); other++) {
            if (other != node) {
                endpoints.get(other).reach(node, endpoints.get(node).address());
            }
        }
    }

    /** Ends a node's endpoint and starts another in its place, at another port, with an empty inbox. */
    void replace(int node) throws IOException {
        endpoints.get(node).close();
        received.set(node, new Received());
        endpoints.set(node,
                new TransportEndpoint(node, Nodes.COUNT, address(node, 0), credential, received.get(node), limits));
        introduce(node);
        for (int other = 0; other < endpoints.size(); other++) {
            if (other != node) {
                endpoints.get(node).reach(other, endpoints.get(other).address());
            }
        }
    }

    static InetSocketAddress address(int node, int port) throws IOException {
        return new InetSocketAddress(
                InetAddress.getByAddress(new byte[]{127, 88, (byte) (node / 200), (byte) (node % 200 + 1)}), port);
    }

    static byte[] number(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    static long number(byte[] message) {
        return ByteBuffer.wrap(message).getLong();
    }

    /** A table of one column of 64-bit numbers from 0 on. */
    static VectorSchemaRoot table(BufferAllocator allocator, int rows) {
        BigIntVector column = new BigIntVector("number", allocator);
        column.allocateNew(rows);
        LongStream.range(0, rows).forEach(row -> column.set((int) row, row));
        column.setValueCount(rows);
        return VectorSchemaRoot.of(column);
    }

    @Override
    public void close() {
        endpoints.forEach(TransportEndpoint::close);
    }
}
