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
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.udckpt.address.RankSpan;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.runtime.Acceptor;

/**
 * The process manager's half of PMI-1, for the ranks of an agent: key-value space and barrier, which they share with those of the other agents
 * ({@link PmiPeers}), if the job has any.
 *
 * <p>A connection's first line is {@code rank=R}, sent by the shepherd; the rest is the rank's. Each connection has a
 * thread of its own, which ends with it.
 */
public final class PmiServer implements AutoCloseable {
    /** What a rank waits for other agents' answer to a get: far longer than it takes, also while a node above is given up. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final RankSpan span;
    private final ServerSocketChannel server;
    private final KeyValueSpace space;
    private final PmiListener listener;
    private final Duration patience;
    private final CompletableFuture<PmiPeers> peers = new CompletableFuture<>();
    private final PmiPhase[] phases; // by place in the span, as all that follow
    private final boolean[] inBarrier;
    private final PmiConnection[] connections;
    private final byte[][] unread; // what a restored rank must find in its new connection first
    private final AtomicLong traffic = new AtomicLong();

    /** @param patience with other agents; in tests shorter */
    PmiServer(Path socket, RankSpan span, PmiState state, PmiListener listener, Duration patience) throws IOException {
        int ranks = span.count();
        if (!span.ranks().boxed().toList().equals(state.ranks().stream().map(PmiState.RankState::rank).toList())) {
            throw new IllegalArgumentException("PMI's state of an agent with " + span + " is of other ranks");
        }
        this.span = span;
        this.patience = patience;
        this.space = new KeyValueSpace(state.name());
        state.pairs().forEach(space::put);
        this.listener = listener;
        this.phases = new PmiPhase[ranks];
        this.inBarrier = new boolean[ranks];
        this.connections = new PmiConnection[ranks];
        this.unread = new byte[ranks][];
        for (PmiState.RankState rank : state.ranks()) {
            phases[span.index(rank.rank())] = rank.phase();
            inBarrier[span.index(rank.rank())] = rank.inBarrier();
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
    public static PmiServer start(Path socket, String name, RankSpan span, String mapping, PmiListener listener) throws IOException {
        List<PmiState.RankState> silent = span.ranks().mapToObj(rank -> new PmiState.RankState(rank, PmiPhase.SILENT, false)).toList();
        return restore(socket, span, new PmiState(name, Map.of(ProcessMapping.KEY, mapping), silent), listener);
    }

    /** Serves a restarted job from where its image left it. */
    public static PmiServer restore(Path socket, RankSpan span, PmiState state, PmiListener listener) throws IOException {
        return new PmiServer(socket, span, state, listener, PATIENCE);
    }

    /** The job has ranks elsewhere, and these are their agents: they are told what this agent's ranks have done so far, also in an earlier life. */
    public synchronized void join(PmiPeers others) {
        if (span.isAll() || !peers.complete(others)) {
            throw new IllegalStateException("PMI of " + span + " has no other agents, or has them already");
        }
        Map<String, String> own = space.copy();
        own.remove(ProcessMapping.KEY);
        others.put(own);
        if (allInBarrier()) {
            others.enter();
        }
    }

    /** What an image must hold; taken while the ranks are stopped. */
    public synchronized PmiState state() {
        List<PmiState.RankState> ranks = new ArrayList<>();
        for (int place = 0; place < phases.length; place++) {
            ranks.add(new PmiState.RankState(span.first() + place, phases[place], inBarrier[place]));
        }
        return new PmiState(space.name(), space.copy(), List.copyOf(ranks));
    }

    public synchronized PmiPhase phase(int rank) {
        return phases[span.index(rank)];
    }

    RankSpan span() {
        return span;
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
        unread[span.index(rank)] = bytes;
    }

    /** Waits until a rank's connection has told whose it is. */
    public synchronized void awaitJoined(int rank, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        try {
            while (connections[span.index(rank)] == null) {
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

    /** Counts lines in both directions, and what went to other agents and came from them: unchanged over a time in which nothing was under way. */
    public long traffic() {
        PmiPeers others = peers.getNow(null);
        return traffic.get() + (others == null ? 0 : others.traffic());
    }

    void moved() {
        traffic.incrementAndGet();
    }

    void joined(int rank, PmiConnection connection) throws PmiException, IOException {
        byte[] first;
        synchronized (this) {
            if (!span.has(rank)) {
                throw new PmiException("rank " + rank + " is not of " + span);
            }
            connections[span.index(rank)] = connection;
            notifyAll();
            first = unread[span.index(rank)];
            unread[span.index(rank)] = null;
        }
        if (first != null) {
            connection.send(first);
        }
    }

    synchronized void setPhase(int rank, PmiPhase phase) {
        phases[span.index(rank)] = phase;
    }

    /** False when one of this agent's ranks has put the key already. */
    synchronized boolean put(String key, String value) {
        boolean fresh = space.put(key, value);
        PmiPeers others = peers.getNow(null);
        if (fresh && others != null) {
            others.put(Map.of(key, value));
        }
        return fresh;
    }

    /** The value of a key, or null if nobody has put it. @throws TimeoutException if other agents have to be asked, and do not answer */
    String get(String key) throws TimeoutException, InterruptedException, ExecutionException {
        String own = space.get(key);
        return own != null || span.isAll() ? own : peers.thenCompose(others -> others.get(key)).get(patience.toNanos(), TimeUnit.NANOSECONDS).orElse(null);
    }

    /** Closed by the rank or its death. */
    void left(int rank, PmiConnection connection) {
        boolean early;
        synchronized (this) {
            if (connections[span.index(rank)] != connection) {
                return;
            }
            connections[span.index(rank)] = null;
            early = phases[span.index(rank)] == PmiPhase.INITIALISED && server.isOpen();
        }
        if (early) {
            listener.lost(rank);
        }
    }

    /** The last rank to come in lets everyone go, or tells the other agents. */
    void enterBarrier(int rank) {
        synchronized (this) {
            inBarrier[span.index(rank)] = true;
            if (!allInBarrier()) {
                return;
            }
            if (!span.isAll()) {
                Optional.ofNullable(peers.getNow(null)).ifPresent(PmiPeers::enter); // else it is done as they are there
                return;
            }
        }
        release();
    }

    private boolean allInBarrier() {
        return IntStream.range(0, inBarrier.length).allMatch(place -> inBarrier[place]);
    }

    /** All ranks of the job are in the barrier: it ends. Waits for the connections to take the word, which is sent outside the lock. */
    public void release() {
        List<PmiConnection> released = new ArrayList<>();
        synchronized (this) {
            if (!allInBarrier()) {
                throw new IllegalStateException("a barrier has ended that not all of " + span + " have entered");
            }
            for (int place = 0; place < inBarrier.length; place++) {
                inBarrier[place] = false;
                if (connections[place] != null) {
                    released.add(connections[place]);
                }
            }
        }
        released.forEach(PmiConnection::leaveBarrier);
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
