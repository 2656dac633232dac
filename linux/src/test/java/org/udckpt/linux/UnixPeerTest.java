package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A client that connects to a socket that is closed at that moment gets an error, and does not wait for ever. */
@Timeout(120)
class UnixPeerTest {
    private static final int ROUNDS = 2000;

    @TempDir
    Path directory;

    @Test
    void nobodyIsLeftWaitingByAServerThatCloses() throws Exception {
        Path socket = directory.resolve("s");
        for (int round = 0; round < ROUNDS; round++) {
            Files.deleteIfExists(socket);
            ServerSocketChannel server = UnixPeer.listen(socket, 5);
            Thread accepting = Thread.ofVirtual().start(() -> accept(server));
            try (SocketChannel client = UnixPeer.connect(socket)) {
                for (int spin = round % 100; spin > 0; spin--) {
                    Thread.onSpinWait();
                }
                server.close();
                CompletableFuture<Integer> heard = CompletableFuture.supplyAsync(() -> read(client));
                assertEquals(-1, heard.get(20, TimeUnit.SECONDS), "round " + round);
            }
            accepting.join();
        }
    }

    private static void accept(ServerSocketChannel server) {
        try {
            UnixPeer.accept(server).close();
        } catch (IOException closed) {
            return; // before or after it was accepted: the client hears the same
        }
    }

    /** -1: the end, or a reset. */
    private static int read(SocketChannel client) {
        try {
            return client.read(ByteBuffer.allocate(1));
        } catch (IOException reset) {
            return -1;
        }
    }
}
