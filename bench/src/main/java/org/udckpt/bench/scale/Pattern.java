package org.udckpt.bench.scale;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import org.udckpt.address.Endpoint;
import org.udckpt.address.Gid;
import org.udckpt.address.VerbsAddress;

/**
 * The communication pattern: ranks in a box of three dimensions, as near to a cube as their number allows. Each talks
 * to its 26 neighbours (the box is periodic) and, for collectives, to the ranks whose number differs in one bit. Each
 * pair uses all queue pairs.
 *
 * @param ranks of the job
 * @param perNode ranks of a node, at most
 * @param pairs queue pairs of a rank
 */
record Pattern(int ranks, int perNode, int pairs) {
    private static final int FIRST_QPN = 3000;
    /** Number of unicast LIDs: InfiniBand specification volume 1, 4.1.1. */
    private static final int MOST_LIDS = 0xbfff;

    Pattern {
        if (ranks < 1 || perNode < 1 || pairs < 1) {
            throw new IllegalArgumentException(
                    ranks + " ranks, " + perNode + " a node, " + pairs + " queue pairs each");
        }
    }

    /** Whether each node can have a LID. */
    boolean fitsASubnet() {
        return nodes() <= MOST_LIDS;
    }

    int nodes() {
        return (ranks + perNode - 1) / perNode;
    }

    int firstRank(int node) {
        return node * perNode;
    }

    int endOfRanks(int node) {
        return Math.min(ranks, (node + 1) * perNode);
    }

    /** The box's sides, growing. */
    int[] sides() {
        int x = divisor(ranks, Math.cbrt(ranks));
        int y = divisor(ranks / x, Math.sqrt(ranks / (double) x));
        int z = ranks / x / y;
        return java.util.stream.IntStream.of(x, y, z).sorted().toArray();
    }

    /** Calls {@code each} for all partners of a rank; some of them twice, where a side is short. */
    void partners(int rank, int[] sides, IntConsumer each) {
        int x = rank / (sides[1] * sides[2]);
        int y = rank / sides[2] % sides[1];
        int z = rank % sides[2];
        for (int step = 0; step < 27; step++) {
            int other = (Math.floorMod(x + step / 9 - 1, sides[0]) * sides[1]
                    + Math.floorMod(y + step / 3 % 3 - 1, sides[1])) * sides[2]
                    + Math.floorMod(z + step % 3 - 1, sides[2]);
            if (other != rank) {
                each.accept(other);
            }
        }
        for (int bit = 1; bit < ranks; bit <<= 1) {
            if ((rank ^ bit) < ranks) {
                each.accept(rank ^ bit);
            }
        }
    }

    /** The virtual addresses, as keys, of what a node's ranks need of others. */
    long[] keys(int node) {
        int[] sides = sides();
        java.util.TreeSet<Integer> wanted = new java.util.TreeSet<>();
        for (int rank = firstRank(node); rank < endOfRanks(node); rank++) {
            partners(rank, sides, wanted::add);
        }
        wanted.subSet(firstRank(node), endOfRanks(node)).clear();
        return wanted.stream().flatMapToLong(
                rank -> java.util.stream.LongStream.range(0, pairs).map(pair -> virtual(rank, (int) pair).key()))
                .toArray();
    }

    /** A node's queue pairs: all nodes are others than before, and so are the numbers. */
    List<Endpoint> endpoints(int node) {
        int lid = 1 + (node + nodes() / 3 + 1) % nodes();
        List<Endpoint> endpoints = new ArrayList<>();
        for (int rank = firstRank(node); rank < endOfRanks(node); rank++) {
            for (int pair = 0; pair < pairs; pair++) {
                endpoints.add(new Endpoint(rank, virtual(rank, pair), new VerbsAddress(lid, gid(lid),
                        FIRST_QPN + 5 + 3 * ((rank - firstRank(node)) * pairs + pair))));
            }
        }
        return endpoints;
    }

    VerbsAddress virtual(int rank, int pair) {
        int lid = 1 + rank / perNode;
        return new VerbsAddress(lid, gid(lid), FIRST_QPN + rank % perNode * pairs + pair);
    }

    private static Gid gid(int lid) {
        return new Gid(0xfe80000000000000L, 0x0002c90300000000L | lid);
    }

    private static int divisor(int of, double most) {
        int divisor = (int) (most + 1e-9);
        while (of % divisor != 0) {
            divisor--;
        }
        return divisor;
    }
}
