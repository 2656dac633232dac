package org.udckpt.job.pmi;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.runtime.Acceptor;

/**
 * The process manager's half of PMI-1, for all ranks of a job: key-value space and barrier.
 *
 * <p>A connection's first line is {@code rank=R}, sent by the shepherd; the rest is the rank's. Each connection has a
 * thread of its own, which ends with it.
 */
public final class PmiServer implements AutoCloseable {
    private final ServerSocketChannel server;
    private final KeyValueSpace space;
    private final PmiListener listener;
    private final PmiPhase[] phases;
    private final boolean[] inBarrier;
    private final PmiConnection[] connections;
    private final byte[][] unread; // by rank: what a restored rank must find in its new connection first
    private final AtomicLong traffic = new AtomicLong();

    private PmiServer(Path socket, PmiState state, PmiListener listener) throws IOException {
        int ranks = state.ranks().size();
        this.space = new KeyValueSpace(state.name());
        state.pairs().forEach(space::put);
        this.listener = listener;
        this.phases = new PmiPhase[ranks];
        this.inBarrier = new boolean[ranks];
        this.connections = new PmiConnection[ranks];
        this.unread = new byte[ranks][];
        for (PmiState.RankState rank : state.ranks()) {
            phases[rank.rank()] = rank.phase();
            inBarrier[rank.rank()] = rank.inBarrier();
        }
        this.server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket), Math.max(128, ranks));
        Thread.ofVirtual().name("pmi-accept").start(this::accept);
    }

    /**
     * Serves a job from its beginning.
     *
     * @param mapping the value of PMI_process_mapping, from which MPICH learns which ranks share a node
     */
    public static PmiServer start(Path socket, String name, int ranks, String mapping, PmiListener listener) throws IOException {
        List<PmiState.RankState> silent = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            silent.add(new PmiState.RankState(rank, PmiPhase.SILENT, false));
        }
        return new PmiServer(socket, new PmiState(name, java.util.Map.of("PMI_process_mapping", mapping), silent), listener);
    }

    /** Serves a restarted job from where its image left it. */
    public static PmiServer restore(Path socket, PmiState state, PmiListener listener) throws IOException {
        return new PmiServer(socket, state, listener);
    }

    /** What an image must hold; taken while the ranks are stopped. */
    public synchronized PmiState state() {
        List<PmiState.RankState> ranks = new ArrayList<>();
        for (int rank = 0; rank < phases.length; rank++) {
            ranks.add(new PmiState.RankState(rank, phases[rank], inBarrier[rank]));
        }
        return new PmiState(space.name(), space.copy(), List.copyOf(ranks));
    }

    public synchronized PmiPhase phase(int rank) {
        return phases[rank];
    }

    int ranks() {
        return phases.length;
    }

    KeyValueSpace space() {
        return space;
    }

    PmiListener listener() {
        return listener;
    }

    private void accept() {
        Acceptor.run("PMI server", server, channel -> Thread.ofVirtual().name("pmi-connection").start(() -> new PmiConnection(this, channel).serve()));
    }

    /** Before a restored rank is connected again: answers that it had not read when it was stopped. */
    public synchronized void prime(int rank, byte[] bytes) {
        unread[rank] = bytes;
    }

    /** Waits until a rank's connection has told whose it is. */
    public synchronized void awaitJoined(int rank, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        try {
            while (connections[rank] == null) {
                long left = (deadline - System.nanoTime()) / 1_000_000;
                if (left <= 0) {
                    throw new Failure(ExitCode.TIMEOUT, "rank " + rank + "'s new PMI connection did not come within " + timeout.toSeconds() + " s");
                }
                wait(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of("waiting for rank " + rank + "'s PMI connection", e);
        }
    }

    /** Counts lines in both directions: unchanged over a time in which nothing was under way. */
    public long traffic() {
        return traffic.get();
    }

    void moved() {
        traffic.incrementAndGet();
    }

    void joined(int rank, PmiConnection connection) throws PmiException, IOException {
        byte[] first;
        synchronized (this) {
            if (rank < 0 || rank >= phases.length) {
                throw new PmiException("rank " + rank + " is not in a job of " + phases.length);
            }
            connections[rank] = connection;
            notifyAll();
            first = unread[rank];
            unread[rank] = null;
        }
        if (first != null) {
            connection.send(first);
        }
    }

    synchronized void setPhase(int rank, PmiPhase phase) {
        phases[rank] = phase;
    }

    /** Closed by the rank or its death. */
    void left(int rank, PmiConnection connection) {
        boolean early;
        synchronized (this) {
            if (connections[rank] != connection) {
                return;
            }
            connections[rank] = null;
            early = phases[rank] == PmiPhase.INITIALISED && server.isOpen();
        }
        if (early) {
            listener.lost(rank);
        }
    }

    /** Lets everyone go when the last rank has come in; the answer is sent outside the lock. */
    void enterBarrier(int rank) throws IOException {
        List<PmiConnection> released = new ArrayList<>();
        synchronized (this) {
            inBarrier[rank] = true;
            for (boolean in : inBarrier) {
                if (!in) {
                    return;
                }
            }
            for (int r = 0; r < inBarrier.length; r++) {
                inBarrier[r] = false;
                if (connections[r] != null) {
                    released.add(connections[r]);
                }
            }
        }
        for (PmiConnection connection : released) {
            connection.send("cmd=barrier_out");
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        List<PmiConnection> open = new ArrayList<>();
        synchronized (this) {
            for (PmiConnection connection : connections) {
                if (connection != null) {
                    open.add(connection);
                }
            }
        }
        for (PmiConnection connection : open) {
            connection.close();
        }
    }
}
