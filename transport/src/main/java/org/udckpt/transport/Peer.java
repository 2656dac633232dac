package org.udckpt.transport;

import java.net.InetSocketAddress;
import java.util.List;

/**
 * The ways to one node. Messages and tables have each their own queue and connection: a table takes up to a minute, and
 * a heartbeat that waited behind it would come after its lease. That for tables is made when there is one: a lead has
 * tens of thousands of peers that get none. Thread-safe.
 */
final class Peer {
    private final LinkContext context;
    private final int node;
    private final OutboundChannel messages;
    private OutboundChannel tables;
    private InetSocketAddress address;
    private boolean ended;

    /** @param address null: not known yet */
    Peer(LinkContext context, int node, InetSocketAddress address) {
        this.context = context;
        this.node = node;
        this.address = address;
        this.messages = new OutboundChannel(context, node, address);
    }

    OutboundChannel messages() {
        return messages;
    }

    synchronized OutboundChannel tables() {
        if (tables == null) {
            tables = new OutboundChannel(context, node, address);
            if (ended) {
                tables.end();
            }
        }
        return tables;
    }

    private synchronized List<OutboundChannel> all() {
        return tables == null ? List.of(messages) : List.of(messages, tables);
    }

    synchronized void reach(InetSocketAddress there) {
        address = there;
        all().forEach(outbound -> outbound.reach(there));
    }

    /** Waits until all has been taken. False: not until then, or nobody is there to take it. */
    boolean awaitEmpty(long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        boolean empty = true;
        for (OutboundChannel outbound : all()) {
            empty &= outbound.awaitEmpty(end - System.nanoTime());
        }
        return empty;
    }

    /** Returns at once; what was not taken is dropped, and tables fail. */
    synchronized void end() {
        ended = true;
        all().forEach(OutboundChannel::end);
    }

    void join() throws InterruptedException {
        for (OutboundChannel outbound : all()) {
            outbound.join();
        }
    }

    boolean hasEnded() {
        return all().stream().allMatch(OutboundChannel::hasEnded);
    }
}
