package org.udckpt.job.life;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.udckpt.address.Gid;
import org.udckpt.address.HostAddress;
import org.udckpt.job.agent.Job;
import org.udckpt.ud.LibraryConnection;
import org.udckpt.ud.Message;

/** Gives every restored process its verbs objects again, on this life's addresses, and then opens all gates. */
final class Rebuild {
    private Rebuild() {}

    /**
     * Returns when all ranks may send.
     *
     * @param connections how many processes had the library at the checkpoint
     * @param downtimeNs wall-clock time since then
     * @param arrival what their memory comes in with
     */
    static void all(Job job, List<LibraryConnection> connections, long downtimeNs, Duration timeout, MemoryArrival arrival) {
        join(arrival, connections, connection -> connection.rebuild(order(job, connection, downtimeNs), timeout));
        join(arrival, connections, connection -> connection.connect(timeout));
        join(arrival, connections, connection -> connection.resume(timeout));
    }

    private static Message.Rebuild order(Job job, LibraryConnection connection, long downtimeNs) {
        int place = job.placeOf(connection);
        HostAddress host = job.hosts().of(place);
        return new Message.Rebuild(0, job.facts().generation(), host.lid(), host.lids(), host.qpnFirst(), host.qpnLast(), downtimeNs, Gid.ZERO, job.hosts().device(place),
                job.runtime().path().toString());
    }

    private static <T> void join(MemoryArrival arrival, List<LibraryConnection> connections, Function<LibraryConnection, CompletableFuture<T>> command) {
        List<CompletableFuture<T>> asked = new ArrayList<>();
        connections.forEach(connection -> asked.add(command.apply(connection)));
        RuntimeException first = null;
        for (CompletableFuture<T> answer : asked) {
            try {
                arrival.await(answer);
            } catch (CompletionException e) {
                first = first != null ? first : e.getCause() instanceof RuntimeException cause ? cause : e;
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
