package org.udckpt.coordination.lookup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.udckpt.coordination.protocol.Budgets;
import org.udckpt.coordination.protocol.NodeProtocol;
import org.udckpt.coordination.protocol.Ranks;
import org.udckpt.coordination.protocol.Request;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;
import org.udckpt.coordination.tree.TreeTransport;
import org.udckpt.coordination.tree.Wires;

/** Sums over all nodes at the root, with links that lose, double and mix up messages, and nodes that fall silent. */
class TotalsTest {
    private static final int RUNS = 60;
    private static final Timing TIMING = new Timing(10, 100, 100);
    private static final Totals.Counts NONE = Totals.Counts.none(2, 1);

    private static final Ranks NO_RANKS = new Ranks() {
        @Override
        public void begin(Request request, long now) {
            throw new IllegalStateException(request + " was not asked for");
        }

        @Override
        public void over(String why, long inDoubt, long now) {
            // a node that was silenced finds that it is alone
        }
    };

    private final List<Totals> totals = new ArrayList<>();
    private final List<NodeProtocol> parts = new ArrayList<>();
    private Wires wires;
    private Totals.Counts root = NONE;
    private int silent = -1;
    private int sent;

    private void tree(Tree tree, Random random, double loss, double twice) {
        wires = new Wires(random, tree.nodes(), loss, twice);
        totals.clear();
        parts.clear();
        root = NONE;
        silent = -1;
        for (int node = 0; node < tree.nodes(); node++) {
            int self = node;
            TreeTransport whole = wires.links(node);
            TreeTransport links = (to, message) -> {
                if (self != silent && to != silent) {
                    sent++;
                    whole.send(to, message);
                }
            };
            NodeProtocol part = new NodeProtocol(node, 1, tree, TIMING, Budgets.USUAL, links, NO_RANKS, null, 0);
            totals.add(part.totals(NONE, all -> root = all));
            parts.add(part);
            wires.put(node, part.treeNode());
        }
    }

    private void tell(int node, long epoch, long first, long second, long lasting) {
        totals.get(node).tell(new Totals.Counts(epoch, new long[]{first, second}, new long[]{lasting}), wires.now());
    }

    @Test
    void whatAllHaveSaidLastIsAtTheRoot() throws MalformedMessage {
        for (long seed = 0; seed < RUNS; seed++) {
            Random random = new Random(seed);
            Tree tree = new Tree(2 + random.nextInt(60), 2 + random.nextInt(6));
            tree(tree, random, random.nextInt(3) * 0.1, random.nextInt(3) * 0.2);
            for (int round = 0; round < 30; round++) {
                for (int node = 1; node < tree.nodes(); node++) {
                    if (random.nextBoolean()) {
                        tell(node, 5, random.nextInt(1000), 1, random.nextInt(1000));
                    }
                }
                wires.step(10);
            }
            for (int round = 0; round <= tree.depth(); round++) {
                for (int node = 1; node < tree.nodes(); node++) {
                    tell(node, 5, 7L * node, 1, 1000 + node);
                }
                for (int steps = 0; steps < 60; steps++) { // what was lost is repeated meanwhile
                    wires.step(10);
                }
            }
            int nodes = tree.nodes() - 1;
            assertEquals(5, root.epoch(), "seed " + seed);
            assertArrayEquals(new long[]{7L * nodes * (nodes + 1) / 2, nodes}, root.ofEpoch(),
                    "seed " + seed + ", " + tree);
            assertEquals(1000L * nodes + (long) nodes * (nodes + 1) / 2, root.lasting()[0], "seed " + seed);
        }
    }

    @Test
    void onlyTheNewestEpochIsAddedUp() throws MalformedMessage {
        tree(new Tree(4, 3), new Random(1), 0, 0);
        tell(1, 1, 10, 10, 1);
        tell(2, 1, 20, 20, 1);
        wires.step(1);
        assertArrayEquals(new long[]{30, 30}, root.ofEpoch());
        tell(2, 2, 5, 6, 1);
        wires.step(1);
        assertEquals(2, root.epoch());
        assertArrayEquals(new long[]{5, 6}, root.ofEpoch(), "node 1 is still at the one before");
        assertArrayEquals(new long[]{2}, root.lasting());
        tell(1, 0, 0, 0, 1);
        tell(2, 0, 0, 0, 1);
        wires.step(1);
        assertEquals(0, root.epoch(), "nobody is at anything");
    }

    @Test
    void whoIsLostCountsNoMore() throws MalformedMessage {
        tree(new Tree(7, 2), new Random(2), 0, 0);
        for (int round = 0; round < 3; round++) {
            for (int node = 1; node < 7; node++) {
                tell(node, 1, 1, 0, 1L << node);
            }
            wires.step(5);
        }
        assertArrayEquals(new long[]{0b1111110}, root.lasting());
        silent = 1;
        for (int round = 0; round < 60; round++) {
            for (int node = 2; node < 7; node++) {
                tell(node, 1, 1, 0, 1L << node);
            }
            wires.step(10);
        }
        assertTrue(parts.getFirst().treeNode().lost().contains(1));
        assertArrayEquals(new long[]{0b1111100}, root.lasting(),
                "those below it have found another way, and count once");
    }

    @Test
    void aNodeSendsNoMoreThanItIsToldTo() throws MalformedMessage {
        tree(new Tree(16, 3), new Random(3), 0, 0);
        sent = 0;
        for (int round = 0; round < 10; round++) {
            for (int node = 1; node < 16; node++) {
                tell(node, 1, round, 0, 0);
            }
            for (Totals ignored : totals) {
                assertEquals(15 * (round + 1), sent, "one message for each that told, whatever is below it");
            }
        }
    }

    @Test
    void bytesThatNobodyHasWrittenAreRefused() {
        tree(new Tree(4, 3), new Random(4), 0, 0);
        for (int bytes : new int[]{0, 8, 31, 33, 40}) {
            assertThrows(MalformedMessage.class, () -> totals.getFirst().received(1, ByteBuffer.allocate(bytes)),
                    bytes + " bytes");
        }
        assertThrows(MalformedMessage.class,
                () -> totals.getFirst().received(1, ByteBuffer.allocate(32).putLong(0, -1)));
        assertThrows(MalformedMessage.class, () -> totals.get(1).received(0, ByteBuffer.allocate(32)), "from above");
    }
}
