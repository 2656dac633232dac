package org.udckpt.bench.scale;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.udckpt.address.AddressBatch;
import org.udckpt.address.Endpoint;
import org.udckpt.job.coordinator.Budgets;
import org.udckpt.job.coordinator.NodePart;
import org.udckpt.job.coordinator.Op;
import org.udckpt.job.coordinator.Outcome;
import org.udckpt.job.coordinator.Owner;
import org.udckpt.job.coordinator.Request;
import org.udckpt.job.exchange.AddressShelf;
import org.udckpt.job.exchange.Exchange;
import org.udckpt.job.exchange.Shelf;
import org.udckpt.job.tree.Tally;
import org.udckpt.job.tree.Timing;
import org.udckpt.job.tree.Tree;

/** A restart's exchange of tables, and then a checkpoint, of a job of one size in which nothing goes wrong. */
final class ScaleRun implements AutoCloseable {
    private static final long MS = 1_000_000;
    private static final long SETTLED = 3000 * MS;
    private static final int GENERATION = 1;

    private final Pattern pattern;
    private final NetworkModel network;
    private final Tree tree;
    private final boolean exchanges;
    private final Path directory;
    private final Random random;
    private final World world;
    private final List<AddressShelf> shelves = new ArrayList<>();
    private final LocalTimes times;
    private final long[] rebuild;
    private long exchangeBegun;
    private ScaleResult.Step exchange;
    private Outcome outcome;
    private ScaleResult.Step checkpoint;

    /**
     * @param exchanges whether the tables are exchanged too
     * @param directory in memory, for the interior nodes' tables
     */
    ScaleRun(Pattern pattern, int fanOut, NetworkModel network, boolean exchanges, Path directory, long seed) {
        if (exchanges && !pattern.fitsASubnet()) {
            throw new IllegalArgumentException(pattern + ": more nodes than a subnet has LIDs for");
        }
        this.pattern = pattern;
        this.network = network;
        this.exchanges = exchanges;
        this.directory = directory;
        tree = new Tree(pattern.nodes(), fanOut);
        random = new Random(seed);
        times = new LocalTimes(random);
        world = new World(tree.nodes(), network, Faults.NONE);
        rebuild = new long[tree.nodes()];
    }

    /** @throws IllegalStateException if the job did not come through */
    ScaleResult run() {
        for (int node = 0; node < tree.nodes(); node++) {
            int self = node;
            rebuild[node] = times.rebuild();
            // Agents do not start at one moment, nor do their beats come at one.
            world.events().at(random.nextLong(Timing.USUAL.beat()), () -> start(self));
        }
        world.events().runUntil(SETTLED);
        if (exchanges) {
            world.traffic().reset();
            exchangeBegun = world.now();
            world.later(0, 0, () -> world.node(0).coordinator().start(world.now(), Op.EXCHANGE));
            while (exchange == null && world.events().runNext()) {
                continue;
            }
        }
        world.traffic().reset();
        world.later(0, 0, () -> world.node(0).coordinator().checkpoint(1, "", world.now()));
        while (outcome == null && world.events().runNext()) {
            continue;
        }
        if (outcome == null || !outcome.committed()) {
            throw new IllegalStateException(pattern + ": the checkpoint ended as " + outcome);
        }
        return new ScaleResult(pattern, network, tree, exchange, checkpoint, outcome);
    }

    @Override
    public void close() {
        shelves.forEach(AddressShelf::close);
    }

    private void start(int self) {
        NodePart part = new NodePart(self, 1, tree, Timing.USUAL, Budgets.USUAL, world.links(self), new SimulatedRanks(self, world, times), self == 0 ? new Job() : null, world.now());
        if (exchanges) {
            Shelf shelf;
            if (tree.firstChild(self) == tree.endOfChildren(self)) {
                shelf = new LeafShelf();
            } else {
                AddressShelf table = new AddressShelf(directory.resolve("table-" + self), 1024, GENERATION);
                shelves.add(table);
                shelf = table;
            }
            Ends ends = new Ends(self, shelf);
            ends.exchange = part.addresses(shelf, ends);
        }
        world.start(self, part);
    }

    /** One node's ranks in an exchange. */
    private final class Ends implements Exchange.Local {
        private final int node;
        private final Shelf shelf;
        private Exchange exchange;

        Ends(int node, Shelf shelf) {
            this.node = node;
            this.shelf = shelf;
        }

        @Override
        public void begin(long now) {
            world.later(node, rebuild[node], () -> {
                exchange.register(AddressBatch.endpoints(pattern.endpoints(node)), world.now());
                exchange.ask(pattern.keys(node), world.now());
                exchange.complete(world.now());
            });
        }

        @Override
        public void refused(String why, long now) {
            throw new IllegalStateException(why);
        }

        @Override
        public void answered(int number, long[] absent, long now) {
            check();
            world.node(node).exchanged(absent.length == 0 ? null : absent.length + " addresses are known to nobody", now);
        }

        /** That what came is what the peers have registered. In large jobs at some of the nodes. */
        private void check() {
            if (node % Math.max(1, tree.nodes() / 512) != 0) {
                return;
            }
            long[] keys = pattern.keys(node);
            long[] real = new long[keys.length];
            if (shelf instanceof LeafShelf leaf) {
                Arrays.setAll(real, i -> leaf.real(keys[i]));
            } else {
                List<Endpoint> found = shelf.find(keys).stream().flatMap(batch -> decode(batch).stream()).toList();
                Arrays.setAll(real, i -> found.get(i).real().key());
            }
            for (int i = 0; i < keys.length; i++) {
                long key = keys[i];
                int peer = (int) (key >>> 24) - 1;
                long right = pattern.endpoints(peer).stream().filter(e -> e.virtual().key() == key).findFirst().orElseThrow().real().key();
                if (real[i] != right) {
                    throw new IllegalStateException("node %d has 0x%x for address 0x%x, which is at 0x%x".formatted(node, real[i], key, right));
                }
            }
        }
    }

    private static List<Endpoint> decode(byte[] batch) {
        try {
            return AddressBatch.endpoints(batch);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private final class Job implements Owner {
        @Override
        public void commit(long number, long now) {
            world.later(0, 5 * MS, () -> world.node(0).coordinator().manifest(number, null, world.now()));
        }

        @Override
        public void ended(Outcome ended, long now) {
            outcome = ended;
            checkpoint = ScaleResult.Step.of(ended.calls().stream().mapToLong(Outcome.CallTime::nanos).sum(), world.traffic());
        }

        @Override
        public void started(Tally tally, long now) {
            if (tally.failure() != null) {
                throw new IllegalStateException(pattern + ": the exchange of tables failed: " + tally.failure());
            }
            exchange = ScaleResult.Step.of(now - exchangeBegun - Arrays.stream(rebuild).max().orElseThrow(), world.traffic());
        }

        @Override
        public void jobEnded(Tally tally, long now) {}

        @Override
        public void lost(int node, long now) {
            throw new IllegalStateException(pattern + ": node " + node + " is lost at " + now / MS + " ms, and nothing went wrong");
        }
    }
}
