package org.udckpt.lifecycle.restart;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.udckpt.address.Gid;
import org.udckpt.address.HostAddress;
import org.udckpt.agent.Job;
import org.udckpt.ud.LibraryConnection;
import org.udckpt.ud.Message;

/**
 * Restored processes that wait behind their gates: gives each its verbs objects again, on this incarnation's addresses,
 * and then opens all gates. Where the job has ranks elsewhere, all of them take a step before any takes the next.
 *
 * @param connections the processes that had the library at the checkpoint
 * @param downtimeNs wall-clock time since then
 * @param arrival what their memory comes in with
 * @param living a process that ends by itself on the way is nobody's failure
 */
record VerbsReconnect(Job job, List<LibraryConnection> connections, long downtimeNs, Duration timeout,
        LazyMemoryMonitor arrival, LivingProcesses living) {
    /** Returns when all ranks may send. */
    void all() {
        rebuild();
        connect();
        open();
    }

    /** Objects are made again, and the addresses of queue pairs are told. */
    void rebuild() {
        join(connection -> connection.rebuild(order(connection), timeout));
    }

    /** The peers' addresses are known: reliable connections are made again. */
    void connect() {
        join(connection -> connection.connect(timeout));
    }

    /** The peers are connected: all may send. */
    void open() {
        join(connection -> connection.resume(timeout));
    }

    /** From now on the job runs by itself. */
    void follow() {
        arrival.follow();
    }

    private Message.Rebuild order(LibraryConnection connection) {
        int place = job.placeOf(connection);
        HostAddress host = job.hosts().of(place);
        return new Message.Rebuild(0, job.facts().generation(), host.lid(), host.lids(), host.qpnFirst(),
                host.qpnLast(), downtimeNs, Gid.ZERO, job.hosts().device(place),
                job.runtime().path().toString());
    }

    private <T> void join(Function<LibraryConnection, CompletableFuture<T>> command) {
        List<CompletableFuture<T>> asked = new ArrayList<>();
        connections.forEach(connection -> asked.add(command.apply(connection)));
        RuntimeException first = null;
        for (int i = 0; i < asked.size(); i++) {
            try {
                arrival.await(asked.get(i));
            } catch (CompletionException e) {
                if (connections.get(i).closed().isDone() && living.ends(connections.get(i).pid())) {
                    continue; // its code is the job's business
                }
                first = first != null ? first : e.getCause() instanceof RuntimeException cause ? cause : e;
            }
        }
        if (first != null) {
            throw first;
        }
    }
}
