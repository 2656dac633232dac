package org.udckpt.bench.scale;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.udckpt.address.AddressBatch;
import org.udckpt.address.Endpoint;
import org.udckpt.coordination.lookup.AddressCache;
import org.udckpt.coordination.lookup.TableCache;
import org.udckpt.coordination.lookup.TableResolver;
import org.udckpt.coordination.protocol.Budgets;
import org.udckpt.coordination.protocol.CheckpointOutcome;
import org.udckpt.coordination.protocol.CoordinatorListener;
import org.udckpt.coordination.protocol.NodeProtocol;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.coordination.protocol.Request;
import org.udckpt.coordination.tree.CallResult;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;

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
    private final List<AddressCache> caches = new ArrayList<>();
    private final LocalTimes times;
    private final long[] rebuild;
    private long exchangeBegun;
    private ScaleResult.Step exchange;
    private CheckpointOutcome outcome;
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
            // Agents do not start at one moment, nor do their heartbeats come at one.
            world.events().at(random.nextLong(Timing.USUAL.heartbeat()), () -> start(self));
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
        caches.forEach(AddressCache::close);
    }

    private void start(int self) {
        NodeProtocol part = new NodeProtocol(self, 1, tree, Timing.USUAL, Budgets.USUAL, world.links(self),
                new SimulatedRanks(self, world, times), self == 0 ? new Job() : null, world.now());
        if (exchanges) {
            TableCache cache;
            if (tree.firstChild(self) == tree.endOfChildren(self)) {
                cache = new LeafCache();
            } else {
                AddressCache table = new AddressCache(directory.resolve("table-" + self), 1024, GENERATION);
                caches.add(table);
                cache = table;
            }
            Ends ends = new Ends(self, cache);
            ends.exchange = part.addresses(cache, ends);
        }
        world.start(self, part);
    }

    /** One node's ranks in an exchange. */
    private final class Ends implements TableResolver.Local {
        private final int node;
        private final TableCache cache;
        private TableResolver exchange;

        Ends(int node, TableCache cache) {
            this.node = node;
            this.cache = cache;
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
            world.node(node).exchanged(absent.length == 0 ? null : absent.length + " addresses are known to nobody",
                    now);
        }

        /** That what came is what the peers have registered. In large jobs at some of the nodes. */
        private void check() {
            if (node % Math.max(1, tree.nodes() / 512) != 0) {
                return;
            }
            long[] keys = pattern.keys(node);
            long[] real = new long[keys.length];
            if (cache instanceof LeafCache leaf) {
                Arrays.setAll(real, i -> leaf.real(keys[i]));
            } else {
                List<Endpoint> found = cache.find(keys).stream().flatMap(batch -> decode(batch).stream()).toList();
                Arrays.setAll(real, i -> found.get(i).real().key());
            }
            for (int i = 0; i < keys.length; i++) {
                long key = keys[i];
                int peer = (int) (key >>> 24) - 1;
                long right = pattern.endpoints(peer).stream().filter(e -> e.virtual().key() == key).findFirst()
                        .orElseThrow().real().key();
                if (real[i] != right) {
                    throw new IllegalStateException(
                            "node %d has 0x%x for address 0x%x, which is at 0x%x".formatted(node, real[i], key, right));
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

    private final class Job implements CoordinatorListener {
        @Override
        public void commit(long number, long now) {
            world.later(0, 5 * MS, () -> world.node(0).coordinator().manifest(number, null, world.now()));
        }

        @Override
        public void ended(CheckpointOutcome ended, long now) {
            outcome = ended;
            checkpoint = ScaleResult.Step.of(ended.calls().stream().mapToLong(CheckpointOutcome.CallTime::nanos).sum(),
                    world.traffic());
        }

        @Override
        public void started(CallResult tally, long now) {
            if (tally.failure() != null) {
                throw new IllegalStateException(pattern + ": the exchange of tables failed: " + tally.failure());
            }
            exchange = ScaleResult.Step.of(now - exchangeBegun - Arrays.stream(rebuild).max().orElseThrow(),
                    world.traffic());
        }

        @Override
        public void jobEnded(CallResult tally, long now) {}

        @Override
        public void lost(int node, long now) {
            throw new IllegalStateException(
                    pattern + ": node " + node + " is lost at " + now / MS + " ms, and nothing went wrong");
        }
    }
}
