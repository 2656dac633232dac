package org.udckpt.job.link;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.ServerTransportFilter;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Counts a server's connections where they are accepted. One is a stranger's until its handshake is over (the filter's
 * {@code transportReady}); strangers have few places, each address fewer, so that whoever only connects, or shakes hands slowly, takes
 * neither memory nor the places of the job's nodes.
 */
@ChannelHandler.Sharable
final class ConnectionGate extends ChannelInboundHandlerAdapter {
    private final Limits limits;
    private final Refusals refusals;
    private final Map<SocketAddress, InetAddress> strangers = new HashMap<>();
    private final Map<InetAddress, Integer> strangersOf = new HashMap<>();
    private int open;
    private boolean closing;

    ConnectionGate(Limits limits, Refusals refusals) {
        this.limits = limits;
        this.refusals = refusals;
    }

    /** Of the listening channel: what it reads are connections. */
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        Channel connection = (Channel) message;
        if (!(connection.remoteAddress() instanceof InetSocketAddress peer)) {
            connection.unsafe().closeForcibly(); // gone before it was accepted
            return;
        }
        String refusal = enter(peer);
        if (refusal != null) {
            connection.unsafe().closeForcibly();
            refusals.note(peer, refusal);
            return;
        }
        connection.closeFuture().addListener(closed -> leave(peer, connection.eventLoop()));
        context.fireChannelRead(message);
    }

    /** Null: it may. */
    private synchronized String enter(InetSocketAddress peer) {
        if (open >= limits.connections()) {
            return "there are " + open + " connections";
        }
        if (strangers.size() >= limits.strangers()) {
            return strangers.size() + " connections have not proved yet to belong to the job";
        }
        int ofOne = strangersOf.getOrDefault(peer.getAddress(), 0);
        if (ofOne >= limits.strangersOfOne()) {
            return ofOne + " of its connections have not proved yet to belong to the job";
        }
        open++;
        strangers.put(peer, peer.getAddress());
        strangersOf.merge(peer.getAddress(), 1, Integer::sum);
        return null;
    }

    private void leave(InetSocketAddress peer, ScheduledExecutorService clock) {
        boolean refused;
        synchronized (this) {
            open--;
            refused = prove(peer) && !closing;
        }
        if (refused) {
            refusals.noteSoon(peer, "its connection ended without proof that it belongs to the job", clock);
        }
    }

    /** False: had been done before. */
    private synchronized boolean prove(SocketAddress peer) {
        InetAddress address = strangers.remove(peer);
        if (address == null) {
            return false;
        }
        strangersOf.computeIfPresent(address, (a, count) -> count == 1 ? null : count - 1);
        return true;
    }

    /** From now on a handshake's end is ours. */
    synchronized void closing() {
        closing = true;
    }

    synchronized int open() {
        return open;
    }

    synchronized int strangers() {
        return strangers.size();
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
