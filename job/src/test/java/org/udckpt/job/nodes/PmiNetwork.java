package org.udckpt.job.nodes;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.udckpt.address.RankSpan;
import org.udckpt.job.coordinator.Budgets;
import org.udckpt.job.coordinator.NodePart;
import org.udckpt.job.coordinator.Ranks;
import org.udckpt.job.coordinator.Request;
import org.udckpt.job.pmi.PmiClient;
import org.udckpt.job.pmi.PmiListener;
import org.udckpt.job.pmi.PmiServer;
import org.udckpt.job.pmi.PmiState;
import org.udckpt.job.tree.MalformedMessage;
import org.udckpt.job.tree.Timing;
import org.udckpt.job.tree.Tree;

/** A lead and agents with ranks' PMI servers, each with a thread of its own; messages go through memory. */
final class PmiNetwork implements AutoCloseable {
    private static final String NAME = "kvs_test";
    private static final Timing TIMING = new Timing(TimeUnit.MILLISECONDS.toNanos(20), TimeUnit.SECONDS.toNanos(20), TimeUnit.SECONDS.toNanos(20));

    /** An agent: its ranks, and what its server has said of them. */
    final class Agent implements PmiListener {
        final RankSpan span;
        final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        final PmiServer server;
        final NodePmi pmi;
        private final Node node;
        private final Path socket;

        private Agent(int unit, RankSpan span, PmiState state, Tree tree) throws IOException {
            this.span = span;
            this.node = new Node(NodeJob.node(unit), tree);
            this.pmi = new NodePmi(new NodeHandle(node.part, node));
            this.socket = directory.resolve("pmi-" + life + "-" + unit);
            this.server = state == null ? PmiServer.start(socket, NAME, span, "(vector,(0,4,2))", this) : PmiServer.restore(socket, span, state, this);
        }

        PmiClient rank(int rank) throws IOException {
            PmiClient client = new PmiClient(socket, rank);
            ranks.add(client);
            return client;
        }

        /** Nothing is done in its node's thread until the returned latch is closed. */
        AutoCloseable hold() {
            CountDownLatch latch = new CountDownLatch(1);
            node.execute(now -> {
                try {
                    latch.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            return latch::countDown;
        }

        @Override
        public void aborted(int rank, int exitCode) {
            heard.add("aborted " + rank + " " + exitCode);
        }

        @Override
        public void lost(int rank) {
            heard.add("lost " + rank);
        }

        @Override
        public void contradicted(String why) {
            heard.add("contradicted " + why);
        }

        @Override
        public void refused(int rank, String reason) {
            heard.add("refused " + rank + " " + reason);
        }
    }

    private final class Node implements NodeThread, AutoCloseable {
        private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());
        private final NodePart part;

        private Node(int number, Tree tree) {
            this.part = new NodePart(number, life, tree, TIMING, Budgets.USUAL, (to, message) -> nodes.get(to).deliver(number, message), NO_RANKS, null, System.nanoTime());
            nodes.put(number, this);
        }

        private void begin() {
            thread.scheduleWithFixedDelay(() -> safely(() -> part.member().onTimer(System.nanoTime())), 0, 5, TimeUnit.MILLISECONDS);
        }

        private void deliver(int from, byte[] message) {
            if (!thread.isShutdown()) {
                thread.execute(() -> safely(() -> part.member().onMessage(from, message, System.nanoTime())));
            }
        }

        @Override
        public void execute(LongConsumer task) {
            thread.execute(() -> safely(() -> task.accept(System.nanoTime())));
        }

        @Override
        public void close() {
            thread.shutdownNow();
        }
    }

    private interface Work {
        void run() throws MalformedMessage;
    }

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

    private final Path directory;
    private final int life;
    private final ConcurrentHashMap<Integer, Node> nodes = new ConcurrentHashMap<>();
    private final List<PmiClient> ranks = new ArrayList<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final LeadPmi lead;
    final List<Agent> agents = new ArrayList<>();

    /**
     * @param spans  of the agents, in order
     * @param states of an earlier life, or null
     */
    PmiNetwork(Path directory, int life, int fanOut, List<RankSpan> spans, List<PmiState> states) throws IOException {
        this.directory = directory;
        this.life = life;
        Tree tree = new Tree(spans.size() + 1, fanOut);
        Node root = new Node(0, tree);
        lead = new LeadPmi(new NodeHandle(root.part, root));
        for (int unit = 0; unit < spans.size(); unit++) {
            agents.add(new Agent(unit, spans.get(unit), states == null ? null : states.get(unit), tree));
        }
        nodes.values().forEach(Node::begin);
        agents.forEach(agent -> agent.pmi.serve(agent.server));
    }

    /** Agents with the same number of ranks each. */
    static List<RankSpan> spans(int agents, int ranksOfOne) {
        List<RankSpan> spans = new ArrayList<>();
        for (int agent = 0; agent < agents; agent++) {
            spans.add(new RankSpan(agent * ranksOfOne, ranksOfOne, agents * ranksOfOne));
        }
        return spans;
    }

    Agent of(int rank) {
        return agents.stream().filter(agent -> agent.span.has(rank)).findFirst().orElseThrow();
    }

    PmiClient rank(int rank) throws IOException {
        return of(rank).rank(rank);
    }

    /** What DRAIN would add up: begun, ended. */
    long[] counts() {
        long[] sums = lead.counts();
        for (Agent agent : agents) {
            long[] counts = agent.pmi.counts();
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

    List<PmiState> states() {
        return agents.stream().map(agent -> agent.server.state()).toList();
    }

    private void safely(Work work) {
        try {
            work.run();
        } catch (MalformedMessage | RuntimeException e) {
            failure.compareAndSet(null, e);
        }
    }

    /** @throws AssertionError if a node has failed */
    @Override
    public void close() throws IOException {
        for (PmiClient client : ranks) {
            client.close();
        }
        for (Agent agent : agents) {
            agent.server.close();
        }
        nodes.values().forEach(Node::close);
        if (failure.get() != null) {
            throw new AssertionError("a node of the network has failed", failure.get());
        }
    }
}
