package org.udckpt.job.link;

import java.net.InetSocketAddress;

/**
 * The ways to one node. Messages and tables have each their own queue and connection: a table takes up to a minute, and a sign of life that
 * waited behind it would come after its lease.
 */
record Peer(Outlet messages, Outlet tables) {
    /** @param address null: not known yet */
    static Peer of(LinkContext context, int node, InetSocketAddress address) {
        return new Peer(new Outlet(context, node, address), new Outlet(context, node, address));
    }

    void reach(InetSocketAddress there) {
        messages.reach(there);
        tables.reach(there);
    }

    /** Waits until all has been taken. False: not until then. */
    boolean awaitEmpty(long nanos) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        return messages.awaitEmpty(nanos) & tables.awaitEmpty(end - System.nanoTime());
    }

    /** Returns at once; what was not taken is dropped, and tables fail. */
    void end() {
        messages.end();
        tables.end();
    }

    void join() throws InterruptedException {
        messages.join();
        tables.join();
    }

    boolean hasEnded() {
        return messages.hasEnded() && tables.hasEnded();
    }
}
