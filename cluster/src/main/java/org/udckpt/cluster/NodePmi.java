package org.udckpt.cluster;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import org.udckpt.coordination.lookup.Fence;
import org.udckpt.launch.pmi.PmiPeers;
import org.udckpt.launch.pmi.PmiServer;
import org.udckpt.support.report.Messages;

/** PMI's key-value space and barriers over the nodes of a job, as an agent's {@link PmiServer} uses them. */
public final class NodePmi implements PmiPeers {
    private final NodeThread thread;
    private final NamedValues keys;
    private final Fence fence;
    private final AtomicLong begun = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();
    private volatile PmiServer server;

    /** Before the node's first message. */
    public NodePmi(NodeHandle node) {
        this.thread = node.thread();
        this.keys = new NamedValues("PMI key", node.part()::keys, this::contradicted);
        this.fence = node.part().fence(now -> released());
        task(keys::complete); // nothing is to be gathered: what ranks put goes up at once
    }

    /** Before this agent's ranks run: it is they who put, get and enter. */
    public void serve(PmiServer own) {
        server = own;
        own.join(this);
    }

    /**
     * For DRAIN: what of PMI has begun here, and what has ended. It is a rank's request, a task of the node's thread,
     * or a message between nodes, which begins at one and ends at another. Where the sums over all nodes, the lead too
     * ({@link LeadPmi#counts}), are equal and stay so, nothing is under way; see
     * {@link org.udckpt.coordination.lookup.MessageCounts} for nodes that are lost. Any thread may ask.
     */
    public long[] counts() {
        PmiServer own = server;
        // before what has begun: nothing can seem to have ended that has not
        long ends = (own == null ? 0 : own.ended()) + ended();
        return new long[]{(own == null ? 0 : own.begun()) + begun(), ends};
    }

    private long ended() {
        return ended.get() + keys.traffic().received() + fence.traffic().received();
    }

    private long begun() {
        return begun.get() + keys.traffic().sent() + fence.traffic().sent();
    }

    @Override
    public long traffic() {
        return ended() + begun();
    }

    @Override
    public void put(Map<String, String> pairs) {
        task(now -> keys.put(pairs, now));
    }

    @Override
    public CompletableFuture<Map<String, String>> get(Set<String> wanted) {
        CompletableFuture<Map<String, String>> answer = new CompletableFuture<>();
        task(now -> keys.get(wanted, answer, now));
        return answer;
    }

    @Override
    public void enter() {
        task(fence::enter);
    }

    private void task(LongConsumer work) {
        begun.incrementAndGet();
        thread.execute(now -> {
            try {
                work.accept(now);
            } finally {
                ended.incrementAndGet();
            }
        });
    }

    /** The ranks' connections may have to wait for their ranks, and the node's thread must not. */
    private void released() {
        begun.incrementAndGet();
        Thread.ofVirtual().name("pmi-release").start(() -> {
            try {
                server.release();
            } finally {
                ended.incrementAndGet();
            }
        });
    }

    private void contradicted(String why) {
        PmiServer own = server;
        if (own == null) {
            Messages.error(why, null); // its ranks do not run yet
        } else {
            own.contradicted(why);
        }
    }
}
