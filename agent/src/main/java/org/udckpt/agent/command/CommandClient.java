package org.udckpt.agent.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.udckpt.linux.UnixPeer;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.runtime.JobRecord;
import org.udckpt.support.runtime.RuntimeDirectory;

/**
 * Asks a running job's agent over its command.sock (docs/reference/control-protocol.md): one JSON line there, one or
 * more back.
 */
public final class CommandClient implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long START_NS = 15_000_000_000L;

    private final String job;
    private final SocketChannel channel;
    private final BufferedReader reader;

    private CommandClient(String job, SocketChannel channel) {
        this.job = job;
        this.channel = channel;
        this.reader =
                new BufferedReader(new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.UTF_8));
    }

    /** Waits for an agent that is only now starting; 66 when there is none (any more). */
    public static CommandClient connect(RuntimeDirectory runtime) {
        long deadline = System.nanoTime() + START_NS;
        while (true) {
            try {
                return connectOnce(runtime);
            } catch (UnixPeer.Stranger e) {
                throw new Failure(ExitCode.PERMISSION, "job " + runtime.name() + ": " + e.getMessage(), e);
            } catch (IOException e) {
                if (!starting(runtime) || System.nanoTime() > deadline) {
                    throw new Failure(ExitCode.NOT_FOUND,
                            "job " + runtime.name() + " does not answer on " + runtime.commandSocket()
                                    + ": its agent is gone, or the job is ending",
                            e);
                }
            }
            pause();
        }
    }

    private static CommandClient connectOnce(RuntimeDirectory runtime) throws IOException {
        return new CommandClient(runtime.name(), UnixPeer.connect(runtime.commandSocket()));
    }

    private static boolean starting(RuntimeDirectory runtime) {
        try {
            return JobRecord.read(runtime.path()).agentAlive();
        } catch (IOException e) {
            return false; // the directory was cleared away: the job has ended
        }
    }

    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(ExitCode.INTERNAL, "interrupted while waiting for a job's agent", e);
        }
    }

    public ObjectNode request(String verb) {
        return JSON.createObjectNode().put("verb", verb);
    }

    /**
     * Sends a request, hands lines with "event" to the consumer, returns the final answer.
     *
     * @throws Failure with the agent's own code when it answers "ok": false
     */
    public JsonNode ask(ObjectNode request, Consumer<JsonNode> events) {
        try {
            ByteBuffer line =
                    ByteBuffer.wrap((JSON.writeValueAsString(request) + "\n").getBytes(StandardCharsets.UTF_8));
            while (line.hasRemaining()) {
                channel.write(line);
            }
            for (String text = reader.readLine(); text != null; text = reader.readLine()) {
                JsonNode node = JSON.readTree(text);
                if (node.has("event")) {
                    events.accept(node);
                } else if (node.path("ok").asBoolean()) {
                    return node;
                } else {
                    throw new Failure(ExitCode.of(node.path("code").asInt()), node.path("message").asText());
                }
            }
            throw new Failure(ExitCode.IO, "the agent of job " + job + " ended before it answered, or closed the "
                    + "connection because this command did not read for ten seconds");
        } catch (IOException e) {
            throw Failure.of("asking the agent of job " + job, e);
        }
    }

    /** Waits until the agent is gone. */
    public void awaitEnd() {
        try {
            while (reader.readLine() != null) {} // it has nothing more to say
        } catch (IOException e) {
            throw Failure.of("waiting for the end of job " + job, e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw Failure.of("closing the connection to job " + job, e);
        }
    }
}
