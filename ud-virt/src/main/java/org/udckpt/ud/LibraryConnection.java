package org.udckpt.ud;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.udckpt.layout.Layout;

/**
 * The agent's end of one process's control connection. Each command returns a future that ends with the answer, with
 * {@link LibraryException} when the library says no, the process is gone, or the time is over. Thread-safe.
 */
public final class LibraryConnection {
    private final MessageChannel channel;
    private final Message.Hello hello;
    private final AtomicLong cookies = new AtomicLong(1);
    private final Map<Long, CompletableFuture<Message>> waiting = new ConcurrentHashMap<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    LibraryConnection(MessageChannel channel, Message.Hello hello) {
        this.channel = channel;
        this.hello = hello;
    }

    /** The process's number in the job ({@link RankNumbers}), or -1. */
    public int rank() {
        return hello.rank();
    }

    /** The rank of {@code run -n} below which it was started (UDCKPT_RANK), or -1. */
    public int tree() {
        return hello.tree();
    }

    /** The process's pid, as the job numbers it. */
    public int pid() {
        return hello.pid();
    }

    /** The process's descriptor number of this connection: where a restore puts the next agent's connection. */
    public int descriptor() {
        return hello.fd();
    }

    /**
     * The job's incarnation in which the process's verbs objects were made, as the process said when it connected; see
     * {@link Message.Hello}.
     */
    public int generation() {
        return hello.generation();
    }

    /** Ends when the process has gone or closed the connection. */
    public CompletableFuture<Void> closed() {
        return closed.copy();
    }

    /** Closes the gate; the answer comes when no thread is inside a verb. Answered also by processes without verbs. */
    public CompletableFuture<Message.Quiesced> quiesce(Duration timeout) {
        return ask("QUIESCE", Message.Quiesce::new, Message.Quiesced.class, timeout)
                .thenApply(m -> checked("QUIESCE", m, m.status(),
                        "a thread stayed inside a verb, or membarrier(2) is not available"));
    }

    /**
     * Lets reliable connections end what they have under way. Only after {@link #quiesce} of all ranks, whose devices
     * must still answer; {@link #drain} only when all ranks have settled.
     */
    public CompletableFuture<Message.Settled> settle(Duration timeout) {
        return ask("SETTLE", Message.Settle::new, Message.Settled.class, timeout)
                .thenApply(m -> checked("SETTLE", m, m.status(), "the peer of a reliable connection does not answer"));
    }

    /**
     * Moves arrived completions to the virtual queues; the device does nothing from then on. Only after {@link #settle}
     * of all ranks.
     */
    public CompletableFuture<Message.Drained> drain(Duration timeout) {
        return ask("DRAIN", Message.Drain::new, Message.Drained.class, timeout)
                .thenApply(m -> checked("DRAIN", m, m.status(), "the device did not complete all sends"));
    }

    /** Opens the gate. Also valid after a failed quiesce, and when the gate is open. */
    public CompletableFuture<Message.Resumed> resume(Duration timeout) {
        return ask("RESUME", Message.Resume::new, Message.Resumed.class, timeout)
                .thenApply(m -> checked("RESUME", m, m.status(), "see the rank's standard error"));
    }

    /** Recreates the verbs objects of a restored process; {@code order}'s cookie is ignored. The gate stays closed. */
    public CompletableFuture<Message.Rebuilt> rebuild(Message.Rebuild order, Duration timeout) {
        return ask("REBUILD",
                cookie -> new Message.Rebuild(cookie, order.generation(), order.realLid(), order.realLids(),
                        order.qpnFirst(),
                        order.qpnLast(), order.downtimeNs(), order.realGid(), order.device(), order.runtimeDir()),
                Message.Rebuilt.class, timeout)
                .thenApply(m -> checked("REBUILD", m, m.status(), m.error()));
    }

    /** Connects the reliable connections of a rebuilt process, when all ranks have been. The gate stays closed. */
    public CompletableFuture<Message.Connected> connect(Duration timeout) {
        return ask("CONNECT", Message.Connect::new, Message.Connected.class, timeout)
                .thenApply(m -> checked("CONNECT", m, m.status(), m.error()));
    }

    @Override
    public String toString() {
        String mpi = hello.mpiRank() < 0 || hello.mpiRank() == rank() ? "" : "MPI rank " + hello.mpiRank() + ", ";
        return (rank() < 0 ? "process" : "rank " + rank()) + " (" + mpi + "pid " + pid() + ")";
    }

    /** Reads answers until the end of the connection; returns why it ended. */
    IOException serve() {
        try {
            while (true) {
                Message answer = channel.read();
                CompletableFuture<Message> question = waiting.remove(answer.cookie());
                if (question != null) {
                    question.complete(answer);
                }
            }
        } catch (IOException e) {
            closed.complete(null);
            waiting.values().forEach(f -> f.completeExceptionally(gone(e)));
            waiting.clear();
            return e;
        }
    }

    private interface Question {
        Message with(long cookie);
    }

    private <M extends Message> CompletableFuture<M> ask(String name, Question question, Class<M> answer,
            Duration timeout) {
        long cookie = cookies.getAndIncrement();
        CompletableFuture<Message> future = new CompletableFuture<>();
        waiting.put(cookie, future);
        try {
            channel.write(question.with(cookie));
        } catch (IOException e) {
            closed.complete(null); // the process has ended, which the reading side may learn later
            future.completeExceptionally(gone(e));
        }
        if (closed.isDone()) {
            future.completeExceptionally(gone(new IOException("connection closed")));
        }
        return future.orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).handle((message, error) -> {
            waiting.remove(cookie);
            if (error instanceof TimeoutException) {
                throw new LibraryException(
                        "%s: no answer to %s within %d ms".formatted(this, name, timeout.toMillis()));
            }
            if (error instanceof LibraryException refusal) {
                throw refusal;
            }
            if (!answer.isInstance(message)) {
                throw new LibraryException("%s: answered %s with %s".formatted(this, name, message));
            }
            return answer.cast(message);
        });
    }

    private LibraryException gone(IOException e) {
        return new LibraryException(this + ": its control connection has ended (" + e.getMessage() + ")");
    }

    private <M> M checked(String name, M message, int status, String reason) {
        if (status != Layout.STATUS_OK) {
            throw new LibraryException("%s: %s failed: %s".formatted(this, name, reason));
        }
        return message;
    }
}
