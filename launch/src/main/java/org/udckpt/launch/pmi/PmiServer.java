package org.udckpt.launch.pmi;

import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.udckpt.address.RankSpan;
import org.udckpt.linux.UnixPeer;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.runtime.Acceptor;

/**
 * The process manager's half of PMI-1, for the ranks of an agent: key-value space and barrier, which they share with
 * those of the other agents ({@link PmiPeers}), if the job has any.
 *
 * <p>A connection's first line is {@code rank=R}, sent by the shepherd; the rest is the rank's. Each connection has a
 * thread of its own, which ends with it.
 */
public final class PmiServer implements AutoCloseable {
    /**
     * What a rank waits for the other agents' answer to a get: far longer than it takes, also while a node on the way
     * is given up.
     */
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** The server's state of one rank. */
    private static final class Seat {
        private final int rank;
        private PmiPhase phase;
        private boolean inBarrier;
        private PmiSession connection; // null: none
        private byte[] unread; // what a restored rank must find in its new connection first, or null

        private Seat(PmiState.RankState state) {
            this.rank = state.rank();
            this.phase = state.phase();
            this.inBarrier = state.inBarrier();
        }
    }

    private final RankSpan span;
    private final ServerSocketChannel server;
    private final KeyValueSpace space;
    private final PmiListener listener;
    private final Duration timeout;
    private final List<Seat> seats; // by place in the span
    private final CompletableFuture<PmiPeers> peers = new CompletableFuture<>();
    private final AtomicLong begun = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();

    /** @param timeout with other agents; in tests shorter */
    PmiServer(Path socket, RankSpan span, PmiState state, PmiListener listener, Duration timeout) throws IOException {
        if (!span.ranks().boxed().toList().equals(state.ranks().stream().map(PmiState.RankState::rank).toList())) {
            throw new IllegalArgumentException("PMI's state is of other ranks than an agent's with " + span);
        }
        this.span = span;
        this.space = new KeyValueSpace(state.name());
        state.pairs().forEach(space::put);
        this.listener = listener;
        this.timeout = timeout;
        this.seats = state.ranks().stream().map(Seat::new).toList();
        this.server = UnixPeer.listen(socket, Math.max(128, span.count()));
        Thread.ofVirtual().name("pmi-accept").start(this::accept);
    }

    /**
     * Serves a job from its beginning.
     *
     * @param mapping the value of PMI_process_mapping, from which MPICH learns which ranks share a node
     */
    public static PmiServer start(Path socket, String name, RankSpan span, String mapping, PmiListener listener)
            throws IOException {
        List<PmiState.RankState> silent =
                span.ranks().mapToObj(rank -> new PmiState.RankState(rank, PmiPhase.SILENT, false)).toList();
        return restore(socket, span, new PmiState(name, Map.of(ProcessMapping.KEY, mapping), silent), listener);
    }

    /** Serves a restarted job from where its image left it. */
    public static PmiServer restore(Path socket, RankSpan span, PmiState state, PmiListener listener)
            throws IOException {
        return new PmiServer(socket, span, state, listener, TIMEOUT);
    }

    /**
     * The job has ranks elsewhere, and these are their agents: they are told what this agent's ranks have done so far,
     * also in an earlier incarnation.
     */
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
        return new PmiState(space.name(), space.copy(),
                seats.stream().map(seat -> new PmiState.RankState(seat.rank, seat.phase, seat.inBarrier)).toList());
    }

    public synchronized PmiPhase phase(int rank) {
        return seat(rank).phase;
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

    private Seat seat(int rank) {
        return seats.get(span.index(rank));
    }

    private void accept() {
        Acceptor.run("PMI server", server, channel -> Thread.ofVirtual().name("pmi-connection")
                .start(() -> new PmiSession(this, channel).serve()));
    }

    /** Before a restored rank is connected again: answers that it had not read when it was stopped. */
    public synchronized void prime(int rank, byte[] bytes) {
        seat(rank).unread = bytes;
    }

    /** Waits until a rank's connection has told whose it is. */
    public synchronized void awaitJoined(int rank, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        try {
            while (seat(rank).connection == null) {
                long left = (deadline - System.nanoTime()) / 1_000_000;
                if (left <= 0) {
                    throw new Failure(ExitCode.TIMEOUT, "rank " + rank + "'s new PMI connection was not made within "
                            + timeout.toSeconds() + " s");
                }
                wait(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of("waiting for rank " + rank + "'s PMI connection", e);
        }
    }

    /** What has ended of the requests that have {@link #begun}; to be read before those. */
    public long ended() {
        return ended.get();
    }

    /**
     * Ranks' requests so far. As many have ended: none is being answered. One that enters a barrier has ended when that
     * is known.
     */
    public long begun() {
        return begun.get();
    }

    /**
     * Counts both, and what moves between agents: unchanged over a time in which nothing was under way, and nothing has
     * begun.
     */
    public long traffic() {
        PmiPeers others = peers.getNow(null);
        return ended() + begun() + (others == null ? 0 : others.traffic());
    }

    /** Whether nothing was under way since {@link #traffic} was this, and nothing is. */
    public boolean isQuietSince(long before) {
        return ended() == begun() && traffic() == before;
    }

    void beginRequest() {
        begun.incrementAndGet();
    }

    void endRequest() {
        ended.incrementAndGet();
    }

    void joined(int rank, PmiSession connection) throws PmiException, IOException {
        byte[] first;
        synchronized (this) {
            if (!span.has(rank)) {
                throw new PmiException("rank " + rank + " is not of " + span);
            }
            Seat seat = seat(rank);
            seat.connection = connection;
            notifyAll();
            first = seat.unread;
            seat.unread = null;
        }
        if (first != null) {
            connection.send(first);
        }
    }

    synchronized void setPhase(int rank, PmiPhase phase) {
        seat(rank).phase = phase;
    }

    /** Closed by the rank or its death. */
    void left(int rank, PmiSession connection) {
        boolean early;
        synchronized (this) {
            Seat seat = seat(rank);
            if (seat.connection != connection) {
                return;
            }
            seat.connection = null;
            early = seat.phase == PmiPhase.INITIALISED && server.isOpen();
        }
        if (early) {
            listener.lost(rank);
        }
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

    /** What other agents' ranks have put under these keys. @throws TimeoutException if they do not answer */
    Map<String, String> get(Set<String> keys) throws TimeoutException, InterruptedException, ExecutionException {
        return span.isAll() ? Map.of()
                : peers.thenCompose(others -> others.get(keys)).get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The last rank to come in lets everyone go, or tells the other agents. */
    void enterBarrier(int rank) {
        synchronized (this) {
            seat(rank).inBarrier = true;
            if (!allInBarrier()) {
                return;
            }
            if (!span.isAll()) {
                PmiPeers others = peers.getNow(null);
                if (others != null) { // else join tells them
                    others.enter();
                }
                return;
            }
        }
        release();
    }

    private boolean allInBarrier() {
        return seats.stream().allMatch(seat -> seat.inBarrier);
    }

    /**
     * All ranks of the job are in the barrier: it ends. May wait for a rank that does not read; the answers are sent
     * outside the lock.
     */
    public void release() {
        List<PmiSession> released = new ArrayList<>();
        synchronized (this) {
            if (!allInBarrier()) {
                throw new IllegalStateException("a barrier has ended that not all of " + span + " have entered");
            }
            for (Seat seat : seats) {
                seat.inBarrier = false;
                if (seat.connection != null) {
                    released.add(seat.connection);
                }
            }
        }
        released.forEach(PmiSession::leaveBarrier);
    }

    /** See {@link PmiListener#contradicted}. */
    public void contradicted(String why) {
        listener.contradicted(why);
    }

    @Override
    public void close() throws IOException {
        server.close();
        List<PmiSession> open;
        synchronized (this) {
            open = seats.stream().map(seat -> seat.connection).filter(connection -> connection != null).toList();
        }
        for (PmiSession connection : open) {
            connection.close();
        }
    }
}
