package org.udckpt.bench.scale;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.udckpt.address.AddressBatch;
import org.udckpt.address.Endpoint;
import org.udckpt.coordination.lookup.AddressCache;
import org.udckpt.coordination.lookup.TableCache;
import org.udckpt.coordination.lookup.TableResolver;
import org.udckpt.coordination.protocol.Budgets;
import org.udckpt.coordination.protocol.NodeProtocol;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;
import org.udckpt.coordination.tree.TreeTransport;
import org.udckpt.linux.Proc;

/**
 * The memory of the root in the exchange of a large job, in a JVM of its own: the real root, told by its children what
 * the subtrees of such a job would tell, and nobody acknowledges its answers, so that it keeps them all. Arguments:
 * ranks, ranks of a node, queue pairs of a rank, fan-out, directory in memory. Prints {@code name value} lines, in
 * bytes where it is memory; what the children take in the same JVM is counted too.
 */
final class CoordinatorMemory {
    private final Pattern pattern;
    private final Tree whole;
    private final NodeProtocol root;
    private final AddressCache cache;
    private final TableResolver exchange;
    private final Tree top;
    private final int[] sides;
    private int answered;
    private long answers;

    private CoordinatorMemory(Pattern pattern, int fanOut, Path directory) {
        this.pattern = pattern;
        sides = pattern.sides();
        whole = new Tree(pattern.nodes(), fanOut);
        top = new Tree(1 + whole.endOfChildren(0) - whole.firstChild(0), fanOut);
        root = new NodeProtocol(0, 1, top, Timing.USUAL, Budgets.USUAL, (_, message) -> answers += message.length,
                new IdleRanks(), new NoJob(), 0);
        cache = new AddressCache(directory.resolve("root"), 1024, 1);
        exchange = root.addresses(cache, new Counting());
    }

    public static void main(String[] arguments) throws IOException {
        Pattern pattern = new Pattern(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]),
                Integer.parseInt(arguments[2]));
        new CoordinatorMemory(pattern, Integer.parseInt(arguments[3]), Path.of(arguments[4])).run();
    }

    private void run() throws IOException {
        for (int child = 1; child < top.nodes(); child++) {
            say(child);
        }
        say(exchange, List.of(0), false);
        long waiting = exchange.waitingBytes() + root.treeNode().waitingBytes();
        if (answered != 1 || cache.count() != (long) pattern.ranks() * pattern.pairs()) {
            throw new IllegalStateException(
                    "the root has " + cache.count() + " endpoints, and has answered itself " + answered + " times");
        }
        System.out.println("endpoints " + cache.count());
        System.out.println("answers " + answers);
        System.out.println("kept " + waiting);
        System.out.println("heap " + ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP)
                .map(MemoryPoolMXBean::getPeakUsage).mapToLong(java.lang.management.MemoryUsage::getUsed).sum());
        System.out.println("resident " + resident());
        cache.close();
    }

    /** What a child and all below it have and need. */
    private void say(int child) {
        TreeTransport links = (to, message) -> {
            try {
                root.treeNode().onMessage(child, message, 0);
            } catch (MalformedMessage e) {
                throw new IllegalStateException("the root refuses what its child says", e);
            }
        };
        NodeProtocol part =
                new NodeProtocol(child, 1, top, Timing.USUAL, Budgets.USUAL, links, new IdleRanks(), null, 0);
        say(part.addresses(new Nothing(), new Counting()), below(whole.firstChild(0) + child - 1), true);
    }

    private void say(TableResolver by, List<Integer> nodes, boolean withRest) {
        List<Endpoint> endpoints = new ArrayList<>();
        BitSet own = new BitSet(pattern.ranks());
        BitSet wanted = new BitSet(pattern.ranks());
        for (int node : nodes) {
            if (endpoints.size() + pattern.perNode() * pattern.pairs() > AddressBatch.MOST_ENDPOINTS) {
                by.register(AddressBatch.endpoints(endpoints), 0);
                endpoints.clear();
            }
            endpoints.addAll(pattern.endpoints(node));
            own.set(pattern.firstRank(node), pattern.endOfRanks(node));
            for (int rank = pattern.firstRank(node); rank < pattern.endOfRanks(node); rank++) {
                pattern.partners(rank, sides, wanted::set);
            }
        }
        by.register(AddressBatch.endpoints(endpoints), 0);
        wanted.andNot(own);
        by.ask(wanted.stream().mapToObj(rank -> rank)
                .flatMapToLong(rank -> java.util.stream.IntStream.range(0, pattern.pairs())
                        .mapToLong(pair -> pattern.virtual(rank, pair).key()))
                .toArray(), 0);
        by.complete(0);
    }

    /** A node of the whole tree and all below it. */
    private List<Integer> below(int top) {
        List<Integer> nodes = new ArrayList<>();
        for (int first = top, end = top + 1; first < end;
                first = whole.firstChild(first), end = whole.endOfChildren(end - 1)) {
            for (int node = first; node < end; node++) {
                nodes.add(node);
            }
        }
        return nodes;
    }

    private static long resident() throws IOException {
        String line = Proc.text("/proc/self/status").lines()
                .filter(text -> text.startsWith("VmHWM:")).findFirst().orElseThrow();
        return 1024 * Long.parseLong(line.replaceAll("[^0-9]", ""));
    }

    private final class Counting implements TableResolver.Local {
        @Override
        public void begin(long now) {}

        @Override
        public void refused(String why, long now) {
            throw new IllegalStateException(why);
        }

        @Override
        public void answered(int number, long[] absent, long now) {
            answered++;
            if (absent.length > 0) {
                throw new IllegalStateException(absent.length + " addresses are known to nobody");
            }
        }
    }

    /** A child's table, of which only its messages matter here. */
    private static final class Nothing implements TableCache {
        @Override
        public long[] add(byte[] entries) {
            return new long[0];
        }

        @Override
        public long[] missing(long[] keys) {
            return keys;
        }

        @Override
        public List<byte[]> find(long[] keys) {
            throw new UnsupportedOperationException("nobody is below");
        }
    }
}
