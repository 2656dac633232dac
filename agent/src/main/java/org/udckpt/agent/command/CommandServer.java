package org.udckpt.agent.command;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Phaser;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.udckpt.linux.UnixPeer;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.report.WriteProgress;
import org.udckpt.support.runtime.Acceptor;
import org.udckpt.support.runtime.ClassPath;
import org.udckpt.support.runtime.LineReader;

/**
 * The agent's command.sock: a JSON line is a request; events and one final answer go back
 * (docs/reference/control-protocol.md).
 */
public final class CommandServer implements AutoCloseable {
    /** Where phases and times are told to. */
    @FunctionalInterface
    public interface Progress {
        void say(String message);

        /** Heard a few times a second while the image is written. */
        default void writing(WriteProgress now) {}
    }

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long ANSWER_SECONDS = 60;
    private static final long READER_SECONDS = 10;
    private static final int BACKLOG = 50;
    private static final ScheduledThreadPoolExecutor WATCH =
            new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().name("command-watch").factory());

    static {
        WATCH.setRemoveOnCancelPolicy(true);
    }

    private static final int REQUEST_BYTES = 64 * 1024; // of JSON; a request has a hundred

    private final ServerSocketChannel server;
    private final JobCommands commands;
    private final Phaser answering = new Phaser(1);

    private CommandServer(ServerSocketChannel server, JobCommands commands) {
        this.server = server;
        this.commands = commands;
        Thread.ofVirtual().name("command-accept").start(this::accept);
    }

    public static CommandServer start(Path socket, JobCommands commands) throws IOException {
        return new CommandServer(UnixPeer.listen(socket, BACKLOG), commands);
    }

    private void accept() {
        ClassPath.open();
        // A platform thread for each: a checkpoint's work is ptrace's, and that is bound to threads.
        Acceptor.run("command socket", server,
                channel -> Thread.ofPlatform().daemon().name("command").start(() -> serve(channel)));
    }

    private void serve(SocketChannel channel) {
        try (channel) {
            serveLines(channel);
        } catch (IOException e) {
            Messages.debugTrace("a command's asker went away", e);
        }
    }

    private void serveLines(SocketChannel channel) throws IOException {
        LineReader reader = new LineReader(channel, StandardCharsets.UTF_8, REQUEST_BYTES);
        try {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                answering.register();
                try {
                    answer(channel, line);
                } finally {
                    answering.arriveAndDeregister();
                }
            }
        } catch (LineReader.TooLong e) {
            send(channel, JSON.createObjectNode().put("ok", false).put("code", ExitCode.USAGE.value()).put("message",
                    "malformed request: " + e.getMessage()));
        }
    }

    private void answer(SocketChannel channel, String line) throws IOException {
        ObjectNode answer = JSON.createObjectNode();
        try {
            commands.answer(CommandRequest.parse(line), new Events(channel), answer);
            answer.put("ok", true);
        } catch (Throwable e) { // also of what the JVM throws when something has run out, the asker hears
            Failure failure = Failure.of("command", e);
            answer.put("ok", false).put("code", failure.code().value()).put("message", failure.getMessage());
            Messages.debugTrace("command failed", failure);
        }
        send(channel, answer);
    }

    /** What happens while a command is carried out, as lines before its answer. */
    private record Events(SocketChannel channel) implements Progress {
        @Override
        public void say(String message) {
            event(JSON.createObjectNode().put("event", "progress").put("message", message));
        }

        @Override
        public void writing(WriteProgress now) {
            ObjectNode node = JSON.createObjectNode().put("event", "write");
            now.describe(node);
            event(node);
        }

        private void event(ObjectNode node) {
            try {
                send(channel, node);
            } catch (IOException e) {
                Messages.debugTrace("a command's asker went away", e); // the checkpoint goes on without a listener
            }
        }
    }

    /**
     * A client that does not read for so long is disconnected: a stopped terminal must not block this checkpoint and
     * later ones.
     */
    private static void send(SocketChannel channel, ObjectNode node) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap((JSON.writeValueAsString(node) + "\n").getBytes(StandardCharsets.UTF_8));
        synchronized (channel) {
            ScheduledFuture<?> late = WATCH.schedule(() -> hangUp(channel), READER_SECONDS, TimeUnit.SECONDS);
            try {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            } finally {
                late.cancel(false);
            }
        }
    }

    private static void hangUp(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            Messages.debugTrace("a command's asker, who did not read, could not be hung up on", e);
        }
    }

    /** Waits for answers that are due: one of them may be to the request that ended the job. */
    @Override
    public void close() throws IOException {
        server.close();
        try {
            answering.awaitAdvanceInterruptibly(answering.arrive(), ANSWER_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException e) {
            Messages.warn("a command was still in progress " + ANSWER_SECONDS + " s after the job's end");
        }
    }
}
