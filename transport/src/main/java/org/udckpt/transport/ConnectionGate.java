package org.udckpt.transport;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.ServerTransportFilter;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Counts a server's connections where they are accepted. One is a stranger's until its handshake is over (the filter's
 * {@code transportReady}), and then a member's: those of strangers take neither memory nor the places of the job's
 * nodes, and those of nodes no more memory than there is.
 */
@ChannelHandler.Sharable
final class ConnectionGate extends ChannelInboundHandlerAdapter {
    private final RefusalLog refusals;
    private final UnauthenticatedConnections strangers;
    private final AuthenticatedConnections members;
    private int open;
    private boolean closing;

    ConnectionGate(TransportLimits limits, RefusalLog refusals) {
        this.refusals = refusals;
        this.strangers = new UnauthenticatedConnections(limits);
        this.members = new AuthenticatedConnections(limits.connections());
    }

    /** Reads the listening channel: each message of it is a connection. */
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        Channel connection = (Channel) message;
        if (!(connection.remoteAddress() instanceof InetSocketAddress peer)) {
            connection.unsafe().closeForcibly(); // gone before it was accepted
            return;
        }
        UnauthenticatedConnections.Verdict verdict = enter(peer, connection);
        if (verdict.refusal() != null) {
            connection.unsafe().closeForcibly();
            refusals.note(peer, verdict.refusal());
            return;
        }
        UnauthenticatedConnections.Stranger loser = verdict.loser();
        if (loser != null) {
            loser.channel().close();
            refusals.noteSoon(loser.peer(), "its connection was not authenticated yet when another one came",
                    loser.channel().eventLoop());
        }
        connection.closeFuture().addListener(closed -> leave(peer, connection.eventLoop()));
        context.fireChannelRead(message);
    }

    private synchronized UnauthenticatedConnections.Verdict enter(InetSocketAddress peer, Channel connection) {
        UnauthenticatedConnections.Verdict verdict = strangers.enter(peer, connection, System.nanoTime());
        open += verdict.refusal() == null ? 1 : 0;
        return verdict;
    }

    private void leave(InetSocketAddress peer, ScheduledExecutorService clock) {
        boolean refused;
        synchronized (this) {
            open--;
            members.leave(peer);
            refused = strangers.remove(peer) != null && !closing;
        }
        if (refused) {
            refusals.noteSoon(peer, "its connection ended without authentication", clock);
        }
    }

    /** A node that finds no room comes again after a pause, as after any connection that breaks. */
    private void prove(SocketAddress peer) {
        Channel loser;
        synchronized (this) {
            UnauthenticatedConnections.Stranger one = strangers.remove(peer);
            loser = one == null ? null : members.enter(peer, one.channel());
        }
        if (loser != null) {
            loser.close();
        }
    }

    /** @param calls 1: one begins, -1: one has ended */
    synchronized void call(SocketAddress peer, int calls) {
        members.call(peer, calls);
    }

    /** From now on a handshake's end is ours. */
    synchronized void closing() {
        closing = true;
    }

    synchronized int open() {
        return open;
    }

    /** Number of connections of the job's nodes. */
    synchronized int members() {
        return members.size();
    }

    ServerTransportFilter filter() {
        return new ServerTransportFilter() {
            @Override
            public Attributes transportReady(Attributes transport) {
                prove(transport.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
                return transport;
            }
        };
    }
}
