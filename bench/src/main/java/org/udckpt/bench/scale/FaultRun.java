package org.udckpt.bench.scale;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.udckpt.coordination.lookup.KeyCache;
import org.udckpt.coordination.lookup.TableResolver;
import org.udckpt.coordination.lookup.Totals;
import org.udckpt.coordination.protocol.Budgets;
import org.udckpt.coordination.protocol.CheckpointOutcome;
import org.udckpt.coordination.protocol.CoordinatorListener;
import org.udckpt.coordination.protocol.NodeProtocol;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.coordination.protocol.Request;
import org.udckpt.coordination.tree.CallResult;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;

/**
 * A restart's exchange of tables, in half of the runs, and some checkpoints of a small job in which things go wrong,
 * all of it drawn from one seed.
 */
public final class FaultRun {
    private static final long MS = 1_000_000;
    private static final Timing TIMING = new Timing(100 * MS, 300 * MS, 400 * MS);
    private static final int CHECKPOINTS = 3;
    private static final int TRIES = 5;
    private static final long SPAN = 1000 * MS;
    private static final long HANG = 700 * MS;
    /** A message of which one in twenty is lost has come by then: it was repeated five times. */
    private static final long REPEATED = 3000 * MS;

    private final Random random;
    private final Budgets budgets;
    private final Tree tree;
    private final World world;
    private final FaultPlan plan;
    private final Ledger ledger;
    private final long bound;
    private final boolean reliable;
    private final boolean endsOnLoss;
    private final boolean exchanges;
    private final long[] sent;
    private final long[] received;
    private final Totals[] totals;
    private Totals.Counts counted = Totals.Counts.none(0, 1);
    private final boolean[] failing;
    private final boolean[] hanging;
    private final Set<FaultPlan.Fault> done = new HashSet<>();
    private boolean exchanged;
    private boolean quiet;
    private boolean lossHeard;
    private String lastWhy;
    private int committed;
    private int aborted;
    private long begun;
    private long lastFault;

    public FaultRun(long seed) {
        random = new Random(seed);
        int nodes = 2 + (random.nextInt(8) == 0 ? random.nextInt(69) : random.nextInt(12));
        tree = new Tree(nodes, random.nextBoolean() ? 2 : 2 + random.nextInt(7));
        plan = new FaultPlan(random, nodes, TIMING.lease(), SPAN);
        world = new World(nodes, NetworkModel.GIGABIT, plan);
        reliable = random.nextBoolean();
        endsOnLoss = random.nextBoolean();
        exchanges = random.nextBoolean();
        // A pause may come on top; twice, when one follows another.
        budgets = budgets(tree.depth());
        bound = budgets.suspend() + budgets.drain() + budgets.snapshot() + budgets.resume()
                + (tree.depth() + 2L) * (TIMING.lease() + TIMING.heartbeat()) + 12 * TIMING.lease();
        ledger = new Ledger(world, bound);
        sent = new long[nodes];
        received = new long[nodes];
        totals = new Totals[nodes];
        failing = new boolean[nodes];
        hanging = new boolean[nodes];
    }

    /**
     * Short, for faults to come in time. Each level of the tree answers a heartbeat before the one above it has to:
     * what is left at the leaves is the nodes' own.
     */
    private static Budgets budgets(int depth) {
        long levels = depth * TIMING.heartbeat();
        long usual = Math.max(400 * MS, 100 * MS + levels);
        return new Budgets(usual, usual, usual, usual, usual, Math.max(600 * MS, 250 * MS + levels),
                Math.max(500 * MS, usual),
                usual, usual);
    }

    /** How many checkpoints were committed. */
    public int committed() {
        return committed;
    }

    public int aborted() {
        return aborted;
    }

    /** Whether an exchange of tables ended well. */
    public boolean exchanged() {
        return exchanged;
    }

    /** @throws RuntimeException if something happened that must not */
    public void run() {
        for (int node = 0; node < tree.nodes(); node++) {
            int self = node;
            world.events().at(random.nextLong(TIMING.heartbeat()), () -> start(self));
        }
        world.afterEvent(ledger::check);
        world.events()
                .at(TIMING.start(),
                        () -> world
                                .later(0, 0,
                                        exchanges
                                                ? () -> world.node(0).coordinator().start(world.now(), Op.FILES,
                                                        Op.START, Op.EXCHANGE, Op.CONNECT, Op.OPEN)
                                                : this::checkpoint));
        for (FaultPlan.Fault fault : plan.faults()) {
            if (fault.trigger() == null) {
                world.events().at(TIMING.start() + fault.delay(), () -> happens(fault));
            }
        }
        if (reliable) {
            world.events().at(0, this::traffic);
        }
        long rest = (tree.depth() + 2L) * (TIMING.lease() + TIMING.heartbeat()) + budgets.settle() + HANG
                + (plan.loses() ? REPEATED : 0);
        while (world.now() < Math.max(Math.max(TIMING.start() + SPAN, lastFault), ledger.lastEvent()) + rest) {
            world.events().runUntil(world.now() + TIMING.lease());
        }
        ledger.atRest();
        if (!plan.loses()) { // else a phase's budget may end before a message has come that was lost
            addsUp();
            succeedsAgain(rest);
        }
    }

    /** What those tell who have a way to the root is there, and each of them once. */
    private void addsUp() {
        if (world.isDead(0)) {
            return;
        }
        List<Integer> telling = IntStream.range(0, tree.nodes())
                .filter(node -> !world.isDead(node) && !world.node(node).treeNode().isOver()).boxed().toList();
        for (int round = 0; round <= tree.depth(); round++) {
            telling.forEach(node -> world.later(node, 0,
                    () -> totals[node].tell(new Totals.Counts(0, new long[0], new long[]{1}), world.now())));
            world.events().runUntil(world.now() + TIMING.heartbeat());
        }
        if (counted.lasting()[0] != telling.size()) {
            throw new Ledger.Violation(counted.lasting()[0] + " nodes are counted at the root, and " + telling.size()
                    + " have a way to it");
        }
    }

    /**
     * Nothing goes wrong any more: one of the next checkpoints is committed, or the owner knows that a node is lost.
     */
    private void succeedsAgain(long rest) {
        quiet = true;
        plan.end(); // with slow links a phase of several rounds may take longer than its short budget, again and again
        java.util.Arrays.fill(failing, false);
        java.util.Arrays.fill(hanging, false);
        if (world.isDead(0) || lossHeard || !world.node(0).coordinator().isReady()) {
            return;
        }
        int before = committed;
        // The first may still find nodes that have not ended what came before.
        for (int tries = 0; tries < TRIES && committed == before && !lossHeard; tries++) {
            world.later(0, 0, () -> world.node(0).coordinator().checkpoint(++begun, "", world.now()));
            world.events().runUntil(world.now() + bound + budgets.write() + rest);
        }
        if (committed == before && !lossHeard) {
            throw new Ledger.Violation("no checkpoint succeeds any more, and the owner has not heard why: " + lastWhy);
        }
        ledger.atRest();
    }

    @Override
    public String toString() {
        return tree + (reliable ? ", reliable connections, " : ", datagrams, ") + (endsOnLoss ? "ends" : "goes on")
                + " after a loss; " + plan;
    }

    private void start(int self) {
        NodeProtocol part = new NodeProtocol(self, 1, tree, TIMING, budgets, world.links(self),
                new SimulatedRanks(self, world, new Behaviour()), self == 0 ? new Job() : null, world.now());
        new Peers(self, part);
        totals[self] = part.totals(Totals.Counts.none(0, 1), all -> counted = all);
        world.start(self, part);
    }

    private void checkpoint() {
        if (begun < CHECKPOINTS && world.node(0).coordinator().isReady()) {
            world.node(0).coordinator().checkpoint(++begun, "", world.now());
        }
    }

    /** The job's own messages, on connections that lose nothing as long as both ends live. */
    private void traffic() {
        int from = random.nextInt(tree.nodes());
        int to = random.nextInt(tree.nodes());
        if (!ledger.isStopped(from) && !ledger.isEnded(from) && !world.isDead(from)) {
            sent[from]++;
            ledger.underWay(1);
            world.events().at(world.now() + random.nextLong(20 * MS), () -> {
                received[to]++;
                ledger.underWay(-1);
            });
        }
        if (world.now() < TIMING.start() + SPAN) {
            world.events().at(world.now() + random.nextLong(2 * MS), this::traffic);
        }
    }

    private void bringsAbout(int witness, Request begun) {
        for (FaultPlan.Fault fault : quiet ? List.<FaultPlan.Fault>of() : plan.faults()) {
            boolean its = fault.checkpoint() == begun.checkpoint() || begun.checkpoint() == 0;
            if (fault.trigger() == begun.op() && its && fault.witness() == witness && done.add(fault)) {
                world.events().at(world.now() + fault.delay(), () -> happens(fault));
            }
        }
    }

    private void happens(FaultPlan.Fault fault) {
        lastFault = Math.max(lastFault, world.now() + fault.lasts());
        switch (fault.kind()) {
            case KILL -> {
                world.kill(fault.node());
                ledger.dead(fault.node());
            }
            case PAUSE -> world.pause(fault.node(), fault.lasts());
            case PARTITION -> plan.partition(fault.node(), tree.nodes(), world.now() + fault.lasts());
            case FAIL -> failing[fault.node()] = true;
            case HANG -> hanging[fault.node()] = true;
        }
    }

    /**
     * What one node's ranks have and need in an exchange: a pair each, and those of some others. Texts in place of
     * addresses, whose tables would be large.
     */
    private final class Peers implements TableResolver.Local {
        private final int node;
        private final NodeProtocol part;
        private final KeyCache cache = new KeyCache("PMI key");
        private final TableResolver exchange;
        private final List<String> wanted;

        Peers(int node, NodeProtocol part) {
            this.node = node;
            this.part = part;
            exchange = part.addresses(cache, this);
            wanted = random.ints(random.nextInt(4), 0, tree.nodes()).mapToObj(peer -> "rank " + peer).toList();
        }

        @Override
        public void begin(long now) {
            bringsAbout(node, new Request(Op.EXCHANGE, 0, 0));
            world.later(node, random.nextLong(20 * MS), () -> {
                KeyCache.entries(Map.of("rank " + node, "place of rank " + node))
                        .forEach(entries -> exchange.register(entries, world.now()));
                exchange.ask(wanted.stream().mapToLong(KeyCache::number).toArray(), world.now());
                exchange.complete(world.now());
            });
        }

        @Override
        public void refused(String why, long now) {
            throw new Ledger.Violation(why);
        }

        @Override
        public void answered(int number, long[] absent, long now) {
            for (String peer : wanted) {
                if (cache.get(peer) != null && !cache.get(peer).equals("place of " + peer)) {
                    throw new Ledger.Violation("node " + node + " has '" + cache.get(peer) + "' for " + peer);
                }
            }
            part.exchanged(absent.length == 0 ? null : absent.length + " peers are known to nobody", now);
        }
    }

    private final class Behaviour implements SimulatedRanks.Behaviour {
        @Override
        public long duration(int node, Op op) {
            if (op.needsAll() && hanging[node]) {
                hanging[node] = false;
                return HANG;
            }
            return random.nextLong(op == Op.WRITE ? 150 * MS : 10 * MS);
        }

        @Override
        public void begun(int node, Request request) {
            bringsAbout(node, request);
            ledger.begun(node, request);
        }

        @Override
        public String ended(int node, Request request) {
            if (request.op().needsAll() && failing[node]) {
                failing[node] = false;
                return "the simulation wants it to fail";
            }
            ledger.ended(node, request);
            return null;
        }

        @Override
        public long[] counts(int node) {
            return new long[]{sent[node], received[node]};
        }
    }

    private final class Job implements CoordinatorListener {
        @Override
        public void commit(long checkpoint, long now) {
            boolean fails = !quiet && random.nextInt(10) == 0;
            world.later(0, random.nextLong(20 * MS), () -> {
                if (!fails) {
                    ledger.committed(checkpoint);
                }
                world.later(0, random.nextLong(5 * MS), () -> world.node(0).coordinator().manifest(checkpoint,
                        fails ? "the disk is full" : null, world.now()));
            });
        }

        @Override
        public void ended(CheckpointOutcome outcome, long now) {
            ledger.outcome(outcome);
            lastWhy = outcome.why();
            if (outcome.committed()) {
                committed++;
            } else {
                aborted++;
            }
            if (!quiet) {
                world.later(0, random.nextLong(100 * MS), FaultRun.this::checkpoint);
            }
        }

        @Override
        public void started(CallResult tally, long now) {
            exchanged = tally.failure() == null;
            if (exchanged && tally.nodes() != tree.nodes()) {
                throw new Ledger.Violation(
                        "the exchange ended well with " + tally.nodes() + " of " + tree.nodes() + " nodes");
            }
            checkpoint();
        }

        @Override
        public void jobEnded(CallResult tally, long now) {}

        @Override
        public void lost(int node, long now) {
            lossHeard = true;
            if (endsOnLoss) {
                world.node(0).coordinator().end(now);
            }
        }
    }
}
