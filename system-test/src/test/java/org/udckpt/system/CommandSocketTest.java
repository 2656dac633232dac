package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients with malformed or too many requests do not block other clients. */
@Timeout(120)
class CommandSocketTest {
    private static final int SPARE = 4;

    @Test
    void anAgentShortOfDescriptorsRecovers() throws Exception {
        try (RunningJob job = RunningJob.script(": >ready; mkfifo wait; read line <wait; echo PASS")) {
            assertEquals("running", job.status().path("state").asText()); // it has opened its jars
            long agent = job.agent.pid();
            limit(agent, descriptors(agent) + SPARE);
            List<SocketChannel> askers = new ArrayList<>();
            try {
                while (!job.errors().contains("accept failed")) {
                    assertTrue(askers.size() < 100, job::text);
                    askers.add(connect(job));
                    TimeUnit.MILLISECONDS.sleep(20);
                }
            } finally {
                for (SocketChannel asker : askers) {
                    asker.close();
                }
            }
            job.await("an answer", () -> job.status().path("state").asText().equals("running"));
            limit(agent, descriptors(agent) + 1000);
            assertEquals("ckpt-0001", job.checkpoint());
            Files.writeString(job.directory.resolve("wait"), "go on\n");
            job.assertEnds(0);
        }
    }

    @Test
    void aRequestWithoutAnEndIsRefused() throws Exception {
        try (RunningJob job = RunningJob.script(": >ready; mkfifo wait; read line <wait; echo PASS")) {
            try (SocketChannel asker = connect(job)) {
                ByteBuffer endless = ByteBuffer.allocate(1 << 20);
                Thread writer = Thread.ofVirtual().start(() -> send(asker, endless));
                String answer = new BufferedReader(
                        new InputStreamReader(Channels.newInputStream(asker), StandardCharsets.UTF_8)).readLine();
                assertTrue(answer.contains("\"code\":64") && answer.contains("longer than"), answer);
                writer.join();
            }
            try (SocketChannel asker = connect(job)) {
                asker.write(ByteBuffer.wrap("what?\n".getBytes(StandardCharsets.UTF_8)));
                String answer = new BufferedReader(
                        new InputStreamReader(Channels.newInputStream(asker), StandardCharsets.UTF_8)).readLine();
                assertTrue(answer.contains("\"ok\":false") && answer.contains("\"code\":64"), answer);
            }
            assertEquals("running", job.status().path("state").asText());
            Files.writeString(job.directory.resolve("wait"), "go on\n");
            job.assertEnds(0);
        }
    }

    private static void send(SocketChannel asker, ByteBuffer bytes) {
        try {
            while (bytes.hasRemaining()) {
                asker.write(bytes);
            }
        } catch (IOException closed) {
            assertTrue(bytes.hasRemaining()); // the agent has read enough
        }
    }

    /** The socket is there (bind(2)) a moment before anybody listens. */
    private static SocketChannel connect(RunningJob job) throws Exception {
        for (int tries = 1;; tries++) {
            SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                channel.connect(UnixDomainSocketAddress.of(job.runtime().resolve("command.sock")));
                return channel;
            } catch (ConnectException early) {
                channel.close();
                if (tries == 100) {
                    throw early;
                }
                Thread.sleep(50);
            }
        }
    }

    private static int descriptors(long pid) throws IOException {
        try (Stream<Path> entries = Files.list(Path.of("/proc/" + pid + "/fd"))) {
            return entries.mapToInt(entry -> Integer.parseInt(entry.getFileName().toString())).max().orElseThrow() + 1;
        }
    }

    private static void limit(long pid, int descriptors) throws Exception {
        assertEquals(0, new ProcessBuilder("prlimit", "--pid", Long.toString(pid), "--nofile=" + descriptors + ":")
                .inheritIO().start().waitFor());
    }
}
