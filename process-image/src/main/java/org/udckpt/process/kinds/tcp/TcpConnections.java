package org.udckpt.process.kinds.tcp;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.TcpTable;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.socket.BoundPorts;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TcpSocket.TcpState;

/**
 * The TCP sockets of one network namespace: listeners, and connections whose ends are both in the job. All of the job
 * is stopped, so what was sent arrives within moments, and then all bytes under way are in the receivers' queues.
 */
final class TcpConnections {
    /**
     * Looks, a millisecond apart; more than the 200 ms for which TCP may hold back an acknowledgement or a small piece
     * (TCP_DELACK_MAX, TCP_CORK).
     */
    private static final int LOOKS = 250;
    /** After so many nobody answers a call; within this machine the answer comes at once. */
    private static final int ANSWERED = 20;

    private record Found(OpenDescriptor open, long id) {}

    private record Connection(TcpAddress local, TcpAddress remote) {}

    /** What a socket is, when nothing is under way any more. {@code peer} as in {@link TcpSocket}. */
    private record Verdict(TcpState state, long peer) {}

    private final ObjectTable objects;
    private final List<Found> found = new ArrayList<>();
    private final List<TcpEnd> ends = new ArrayList<>();
    private final Map<Connection, TcpEnd> connected = new HashMap<>();
    private boolean unanswered;
    /** Why the last look gave no verdict. */
    private RuntimeException unsettled;
    private TcpTable table;
    /** Of one look, as the table; null: not needed yet. */
    private List<TcpEnd> listening;
    /** Ends of connections whose other end is outside of the job. */
    private final Set<TcpEnd> external = new LinkedHashSet<>();

    TcpConnections(ObjectTable objects) {
        this.objects = objects;
    }

    /** Only notes the socket; it is examined when all are known. */
    void add(OpenDescriptor open, long id) {
        found.add(new Found(open, id));
    }

    /** When all descriptors are known, in their network namespace: who is whose peer. */
    void read() {
        try (TcpOptionReader options = new TcpOptionReader()) {
            found.forEach(one -> ends.add(TcpEnd.of(one.open, one.id)));
            ends.stream()
                    .filter(end -> end.remote.length > 0)
                    .forEach(end -> connected.put(new Connection(end.localAddress(), end.remoteAddress()), end));
            List<TcpSocket> sockets = new ArrayList<>();
            settle().forEach((end, verdict) -> {
                TcpSocket socket = record(end, verdict, options);
                boolean alone = socket.state() == TcpState.UNCONNECTED;
                if (alone && socket.remote().length > 0) {
                    objects.add(Attribute.of(AttributeKind.CALLING, end.open.process().namespacePid(), 0, end.id));
                }
                if (alone && end.hasReleasedPort()) {
                    objects.add(Attribute.of(AttributeKind.RELEASED_PORT, end.open.process().namespacePid(), 0,
                            end.id));
                    objects.add(socket);
                } else {
                    sockets.add(socket);
                }
            });
            BoundPorts.tcp(sockets).forEach(objects::add);
        } finally {
            ends.forEach(TcpEnd::close);
        }
    }

    private Map<TcpEnd, Verdict> settle() {
        for (int n = 0; n < LOOKS; n++) {
            unanswered = n >= ANSWERED;
            Map<TcpEnd, Verdict> verdicts = look();
            if (verdicts != null) {
                external.forEach(this::addExternal);
                checkBacklogs(verdicts);
                return verdicts;
            }
            pause(ends.getFirst());
        }
        throw unsettled;
    }

    private static void pause(TcpEnd any) {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw any.failed("interrupted while bytes of TCP connections were in flight");
        }
    }

    /** Null: something is still under way. */
    private Map<TcpEnd, Verdict> look() {
        Map<TcpEnd, Verdict> verdicts = new LinkedHashMap<>();
        unsettled = null;
        external.clear(); // one that was being closed may be gone
        table = null;
        listening = null;
        for (TcpEnd end : ends) {
            Verdict verdict = look(end);
            if (verdict != null) {
                verdicts.put(end, verdict);
            }
        }
        return unsettled == null ? verdicts : null;
    }

    private Verdict look(TcpEnd end) {
        int state = end.state();
        if (end.multipath && state != TcpTable.LISTEN && (state != TcpTable.CLOSE || end.receivesNoMore())) {
            throw end.open.refuse(end + ": a connection of Multipath TCP cannot be checkpointed; let its ends speak "
                    + "TCP (Go: GODEBUG=multipathtcp=0), or close it first");
        }
        return switch (state) {
            case TcpTable.LISTEN -> new Verdict(TcpState.LISTENING, 0);
            case TcpTable.CLOSE -> new Verdict(end.receivesNoMore() ? TcpState.CLOSED : TcpState.UNCONNECTED, 0);
            case TcpTable.ESTABLISHED, TcpTable.CLOSE_WAIT, TcpTable.FIN_WAIT1,
                    TcpTable.FIN_WAIT2 -> connection(end, state);
            // closed when the last bytes have arrived, for which there may have to be room
            case TcpTable.CLOSING, TcpTable.LAST_ACK -> connection(end, state) == null ? null
                    : wait(end, "it is being closed");
            case TcpTable.SYN_SENT -> unanswered ? new Verdict(TcpState.UNCONNECTED, 0)
                    : wait(end, "it is being connected");
            default -> wait(end, "it is being connected or closed");
        };
    }

    private Verdict wait(TcpEnd end, String why) {
        unsettled = end.failed(why);
        return null;
    }

    private Verdict connection(TcpEnd end, int state) {
        if (end.remote.length == 0) {
            return wait(end, "it is being closed");
        }
        if (end.localAddress().equals(end.remoteAddress())) {
            throw end.open.refuse(end + ": a TCP socket that is connected to itself cannot be checkpointed; close "
                    + "it first");
        }
        TcpEnd other = connected.get(new Connection(end.remoteAddress(), end.localAddress()));
        return other == null ? lonely(end, state) : pair(end, other);
    }

    private Verdict pair(TcpEnd end, TcpEnd other) {
        if (!arrived(end, other)) {
            other.makeRoom(end.unacknowledged());
            return wait(end,
                    ("sent bytes do not arrive: the receive buffer of process %d, descriptor %d is full; let it read, "
                            + "or checkpoint as root")
                            .formatted(other.open.process().pid(), other.open.fd()));
        }
        return new Verdict(TcpState.CONNECTED, other.id);
    }

    /**
     * Acknowledgements may be late by 40 ms, so the sums are compared first. Who has called counts the start of the
     * stream as a byte sent (tcp_ack, net/ipv4/tcp_input.c), and one of two has: so one sum is 0 and one is 1 exactly
     * when nothing is under way.
     */
    private static boolean arrived(TcpEnd end, TcpEnd other) {
        if (end.unacknowledged() == 0 && other.unacknowledged() == 0) {
            return true;
        }
        long there = end.sent() - other.received();
        long back = other.sent() - end.received();
        return there == 0 && back == 1 || there == 1 && back == 0;
    }

    /** The other end has no descriptor in the job. */
    private Verdict lonely(TcpEnd end, int state) {
        TcpAddress remote = end.remoteAddress();
        if (table == null) {
            table = TcpTable.now();
        }
        TcpTable.Entry entry = table.find(remote, end.localAddress());
        if (entry == null ? !closedHere(end, state) : entry.inode() != 0) {
            return outside(end);
        }
        if (entry != null && (entry.state() == TcpTable.ESTABLISHED || entry.state() == TcpTable.CLOSE_WAIT)) {
            return waiting(end, entry);
        }
        if (entry != null && entry.state() == TcpTable.SYN_RECV) {
            return wait(end, "the listener's backlog is full, and the connection is not complete");
        }
        if (state != TcpTable.CLOSE_WAIT) {
            end.makeRoom(entry == null ? 0 : entry.unacknowledged());
            return wait(end, "the other end was closed, and its last bytes do not arrive");
        }
        return end.unacknowledged() == 0 ? new Verdict(TcpState.PEER_CLOSED, 0)
                : wait(end, "the other end was closed, and bytes are still sent to it");
    }

    private static boolean closedHere(TcpEnd end, int state) {
        return state == TcpTable.CLOSE_WAIT && TcpOptionReader.isLocal(end);
    }

    private Verdict waiting(TcpEnd end, TcpTable.Entry entry) {
        if (listening == null) {
            listening = ends.stream().filter(one -> one.remote.length == 0 && one.state() == TcpTable.LISTEN).toList();
        }
        List<TcpEnd> listeners =
                listening.stream().filter(one -> one.localAddress().hears(end.remoteAddress())).toList();
        if (listeners.isEmpty()) {
            return outside(end);
        }
        long unread = entry.unread() - (entry.state() == TcpTable.CLOSE_WAIT ? 1 : 0);
        if (listeners.size() > 1 || unread > 0) {
            throw end.failed(unread > 0
                    ? "bytes were sent through it before it was accepted, and they cannot be read until "
                            + "it is"
                    : "it waits to be accepted by one of several listeners (SO_REUSEPORT)");
        }
        return end.unacknowledged() == 0 ? new Verdict(TcpState.WAITING, listeners.getFirst().id)
                : wait(end, "it is being accepted");
    }

    /** The look may be repeated, so this only notes the end; {@link #settle} reports each once. */
    private Verdict outside(TcpEnd end) {
        external.add(end);
        return new Verdict(TcpState.CLOSED, 0);
    }

    private void addExternal(TcpEnd end) {
        objects.outside().add(end.open, end + ": the other end of this TCP socket is outside of the job",
                "close it before a checkpoint, or start the other side in the same job");
    }

    /** Every connection that waits at a listener has to have its other end in the job. */
    private static void checkBacklogs(Map<TcpEnd, Verdict> verdicts) {
        verdicts.forEach((end, verdict) -> {
            if (verdict.state == TcpState.LISTENING) {
                long own = verdicts.values()
                        .stream()
                        .filter(one -> one.state == TcpState.WAITING && one.peer == end.id)
                        .count();
                if (end.waiting() != own) {
                    throw end.failed(
                            "%d connections wait to be accepted, but only %d of them come from open sockets of the job"
                                    .formatted(end.waiting(), own));
                }
            }
        });
    }

    private TcpSocket record(TcpEnd end, Verdict verdict, TcpOptionReader options) {
        byte[] queued = new byte[0];
        int shutdown = 0;
        if (verdict.state != TcpState.LISTENING && verdict.state != TcpState.UNCONNECTED) {
            end.check();
            noteError(end);
            queued = end.queued();
            shutdown = shutdown(end);
        }
        if (verdict.state != TcpState.UNCONNECTED) {
            end.letPortBeReused();
        }
        int backlog = verdict.state == TcpState.LISTENING ? end.backlog() : 0;
        return options.record(end, verdict.state, verdict.peer, queued, shutdown, backlog);
    }

    private void noteError(TcpEnd end) {
        if (!end.hasError()) {
            return;
        }
        if (end.state() != TcpTable.CLOSE) {
            throw end.failed("it has a pending error or notification, which cannot be read without removing it");
        }
        objects.add(Attribute.of(AttributeKind.SOCKET_ERROR, end.open.process().namespacePid(), 0, end.id,
                PendingErrors.of(end).number()));
    }

    /** 1: the process wants no more, although the other end goes on; 2: it has ended its stream. */
    private int shutdown(TcpEnd end) {
        TcpEnd other =
                end.remote.length == 0 ? null : connected.get(new Connection(end.remoteAddress(), end.localAddress()));
        boolean deaf = end.receivesNoMore()
                && (other == null ? end.state() != TcpTable.CLOSE_WAIT && end.state() != TcpTable.CLOSE
                        : !other.ended());
        return (deaf ? 1 : 0) | (end.ended() ? 2 : 0);
    }
}
