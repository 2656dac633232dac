package org.udckpt.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A stretch of network between two nodes that can break connections after a random number of bytes, or swallow all
 * bytes (a partition).
 */
final class CuttingProxy implements AutoCloseable {
    private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final InetSocketAddress target;
    private final Random random;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicInteger cuts = new AtomicInteger();
    private volatile boolean cutting = true;
    private volatile boolean swallowing;

    CuttingProxy(InetSocketAddress target, long seed) throws IOException {
        this.target = target;
        random = new Random(seed);
        Thread.ofVirtual().start(this::accept);
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listening.getLocalSocketAddress();
    }

    void cutAtRandom(boolean cut) {
        cutting = cut;
    }

    void swallow(boolean swallow) {
        swallowing = swallow;
    }

    int cuts() {
        return cuts.get();
    }

    private void accept() {
        while (true) {
            try {
                Socket near = listening.accept();
                Socket far = new Socket(target.getAddress(), target.getPort());
                sockets.add(near);
                sockets.add(far);
                int limit;
                synchronized (random) {
                    limit = 2000 + random.nextInt(20_000); // a handshake is about 3000 bytes both ways
                }
                Thread.ofVirtual().start(() -> carry(near, far, limit));
                Thread.ofVirtual().start(() -> carry(far, near, limit));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void carry(Socket from, Socket to, int limit) {
        byte[] bytes = new byte[512];
        int carried = 0;
        try (from; to) {
            for (int count = from.getInputStream().read(bytes); count >= 0; count = from.getInputStream().read(bytes)) {
                carried += count;
                if (cutting && carried > limit) {
                    cuts.incrementAndGet();
                    return;
                }
                if (!swallowing) {
                    to.getOutputStream().write(bytes, 0, count);
                }
            }
        } catch (IOException e) {
            // the other direction was cut
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
