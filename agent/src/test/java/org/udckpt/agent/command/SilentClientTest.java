package org.udckpt.agent.command;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Somebody stops the terminal in which {@code udckpt checkpoint} waits: the checkpoint, and those after it, must not.
 */
@Timeout(90)
class SilentClientTest {
    private static final int MESSAGES = 20_000; // of a hundred bytes: more than any socket holds
    @TempDir
    Path temp;

    @Tag("slow")
    @Test
    void whoDoesNotReadHoldsNothingUp() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        JobCommands.Whole handler = new JobCommands.Whole() {
            @Override
            public String checkpoint(CommandServer.Progress progress, boolean wait, OptionalInt end,
                    boolean detachDebuggers) {
                for (int i = 0; i < MESSAGES; i++) {
                    progress.say("x".repeat(100));
                }
                done.countDown();
                return "ckpt-0001";
            }

            @Override
            public ObjectNode status() {
                return JsonNodeFactory.instance.objectNode();
            }
        };
        Path socket = temp.resolve("socket");
        try (CommandServer _ = CommandServer.start(socket, handler);
                SocketChannel silent = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            silent.connect(UnixDomainSocketAddress.of(socket));
            silent.write(ByteBuffer.wrap("{\"verb\":\"checkpoint\"}\n".getBytes(StandardCharsets.UTF_8)));
            assertTrue(done.await(60, TimeUnit.SECONDS), "the checkpoint waits for its asker to read");
        }
    }
}
