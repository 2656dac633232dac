package org.udckpt.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.udckpt.coordination.protocol.Budgets;
import org.udckpt.coordination.protocol.NodeProtocol;
import org.udckpt.coordination.protocol.Ranks;
import org.udckpt.coordination.protocol.Request;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;

/** A lead and agents' nodes with PMI, each with a thread of its own; messages go through memory. */
public final class MemoryNodes implements AutoCloseable {
    private static final long HEARTBEAT = TimeUnit.MILLISECONDS.toNanos(20), START = TimeUnit.SECONDS.toNanos(20);

    private static final Ranks NO_RANKS = new Ranks() {
        @Override
        public void begin(Request request, long now) {
            throw new IllegalStateException(request + " was not asked for");
        }

        @Override
        public void over(String why, long inDoubt, long now) {
            throw new IllegalStateException(why);
        }
    };

    private interface Work {
        void run() throws MalformedMessage;
    }

    private final class Node implements NodeThread {
        private final int number;
        private final ScheduledExecutorService thread =
                Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());
        private final NodeProtocol part;

        private volatile boolean ended;

        private Node(int number, int incarnation, Tree tree, Timing timing) {
            this.number = number;
            this.part = new NodeProtocol(number, incarnation, tree, timing, Budgets.USUAL,
                    (to, message) -> nodes.get(to).deliver(number, message), NO_RANKS, null, System.nanoTime());
        }

        private void begin() {
            thread.scheduleWithFixedDelay(() -> safely(() -> part.treeNode().onTimer(System.nanoTime())), 0, 5,
                    TimeUnit.MILLISECONDS);
        }

        private void deliver(int from, byte[] message) {
            submit(() -> part.treeNode().onMessage(from, message, System.nanoTime()));
        }

        @Override
        public void execute(LongConsumer task) {
            submit(() -> task.accept(System.nanoTime()));
        }

        private void submit(Work work) {
            if (!ended) {
                thread.execute(() -> safely(work));
            }
        }

        private void end() {
            ended = true;
            thread.close(); // when all that it was given before is done
        }

        private void safely(Work work) {
            try {
                work.run();
            } catch (MalformedMessage | RuntimeException e) {
                failure.compareAndSet(null, new AssertionError("node " + number, e));
            }
        }
    }

    private final List<Node> nodes = new ArrayList<>();
    private final AtomicReference<AssertionError> failure = new AtomicReference<>();
    private final LeadPmi lead;
    private final List<NodePmi> agents = new ArrayList<>();

    /** None of them is lost in the time of a test. */
    public MemoryNodes(int incarnation, int fanOut, int units) {
        this(incarnation, fanOut, units, Duration.ofSeconds(20));
    }

    /** @param lease of the tree: who is killed is lost after that */
    MemoryNodes(int incarnation, int fanOut, int units, Duration lease) {
        Tree tree = new Tree(units + 1, fanOut);
        for (int node = 0; node < tree.nodes(); node++) {
            nodes.add(new Node(node, incarnation, tree, new Timing(HEARTBEAT, lease.toNanos(), START)));
        }
        lead = new LeadPmi(handle(0));
        for (int unit = 0; unit < units; unit++) {
            agents.add(new NodePmi(handle(NodeJob.node(unit))));
        }
        nodes.forEach(Node::begin);
    }

    NodeHandle handle(int node) {
        return new NodeHandle(nodes.get(node).part, nodes.get(node),
                (_, _, _) -> CompletableFuture.failedFuture(new IllegalStateException("no tables go here")));
    }

    public NodePmi pmi(int unit) {
        return agents.get(unit);
    }

    /** Nothing is done in a unit's node until what it returns is closed. */
    AutoCloseable hold(int unit) {
        CountDownLatch latch = new CountDownLatch(1);
        nodes.get(NodeJob.node(unit)).execute(now -> {
            try {
                latch.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        return latch::countDown;
    }

    /** A unit's node is gone, without a word. */
    void kill(int unit) {
        nodes.get(NodeJob.node(unit)).end();
    }

    /** What DRAIN would add up: begun, ended. */
    long[] counts() {
        long[] sums = lead.counts();
        for (NodePmi agent : agents) {
            long[] counts = agent.counts();
            sums[0] += counts[0];
            sums[1] += counts[1];
        }
        return sums;
    }

    /** Until nothing is under way in two rounds, as the coordinator does it. */
    void drain() throws InterruptedException {
        long[] before = {-1, -1};
        for (long[] now = counts(); now[0] != now[1] || now[0] != before[0]; now = counts()) {
            before = now;
            Thread.sleep(2);
        }
    }

    /** @throws AssertionError if a node has failed */
    @Override
    public void close() {
        nodes.forEach(Node::end);
        if (failure.get() != null) {
            throw failure.get();
        }
    }
}
