package org.udckpt.lifecycle.checkpoint;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.udckpt.support.report.Messages;
import org.udckpt.ud.LibraryConnection;
import org.udckpt.ud.Message;

/**
 * The gates of all processes that have opened a device: commands go to all at once, and all answers are waited for. A
 * process that ends meanwhile, or executes another program, is left out: the capture sees by itself what it has become.
 */
final class Gates {
    private final List<LibraryConnection> connections;
    private final Duration timeout;

    Gates(List<LibraryConnection> connections, Duration timeout) {
        this.connections = List.copyOf(connections);
        this.timeout = timeout;
    }

    /** Closes the gates; returns what each process's library owns. */
    Map<LibraryConnection, Message.Quiesced> close() {
        return all(connection -> connection.quiesce(timeout));
    }

    /**
     * Settles sends and receives behind the closed gates. No device is drained before all processes have what they wait
     * for.
     */
    void settle() {
        all(connection -> connection.settle(timeout));
    }

    /** Drains the devices; call it when all processes of the job have settled. */
    void drain() {
        all(connection -> connection.drain(timeout));
    }

    /** Opens the gates; returns how long each rank waited for its own, in nanoseconds by rank. */
    Map<Integer, Long> open() {
        long start = System.nanoTime();
        Map<Integer, Long> waited = new LinkedHashMap<>();
        all(connection -> connection.resume(timeout).thenApply(answer -> {
            synchronized (waited) {
                waited.merge(connection.rank(), System.nanoTime() - start, Math::max);
            }
            return answer;
        }));
        return waited;
    }

    /**
     * After a failure: opens the gates of all processes that are left; those that cannot be opened are only reported.
     */
    void openAfterFailure() {
        for (LibraryConnection connection : connections) {
            connection.resume(timeout).whenComplete((answer, error) -> {
                if (error != null && !connection.closed().isDone()) {
                    Messages.warn(connection + " did not confirm that its gate is open: " + error.getMessage());
                }
            });
        }
    }

    private <T> Map<LibraryConnection, T> all(Function<LibraryConnection, CompletableFuture<T>> command) {
        List<CompletableFuture<T>> asked = new ArrayList<>();
        connections.forEach(connection -> asked.add(command.apply(connection)));
        Map<LibraryConnection, T> answers = new LinkedHashMap<>();
        RuntimeException first = null;
        for (int i = 0; i < asked.size(); i++) {
            try {
                answers.put(connections.get(i), asked.get(i).join());
            } catch (CompletionException e) {
                RuntimeException failure = e.getCause() instanceof RuntimeException cause ? cause : e;
                if (connections.get(i).closed().isDone()) {
                    Messages.debugTrace(connections.get(i) + " has gone", failure);
                } else if (first == null) {
                    first = failure;
                } else {
                    first.addSuppressed(failure);
                }
            }
        }
        if (first != null) {
            throw first;
        }
        return answers;
    }
}
