package org.udckpt.coordination.lookup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
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

/** PMI's put, barrier and get over many nodes, with links that lose, double and mix up messages. */
class KeysAndFenceTest {
    private static final int RUNS = 60;
    private static final int FENCES = 3;
    private static final Timing TIMING = new Timing(10, 1000, 1000);

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

    /** One node: in each round it puts a pair, waits for all, and gets some of the others' pairs. */
    private final class Node implements TableResolver.Local {
        private final int number;
        private final NodeProtocol part;
        private final KeyCache cache = new KeyCache("PMI key");
        private final TableResolver keys;
        private final Fence fence;
        private final ArrayDeque<List<String>> asked = new ArrayDeque<>();
        private final List<String> refused = new ArrayList<>();
        private int rounds;
        private int answers;

        Node(int number, Tree tree) {
            this.number = number;
            TreeTransport whole = wires.links(number);
            TreeTransport links = (to, message) -> {
                if (passes.test(number, to, message)) {
                    whole.send(to, message);
                }
            };
            part = new NodeProtocol(number, 1, tree, TIMING, Budgets.USUAL, links, NO_RANKS, null, 0);
            keys = part.keys(cache, this);
            fence = part.fence(this::released);
            wires.put(number, part.treeNode());
        }

        void begin() {
            keys.complete(wires.now());
            enter();
        }

        private void enter() {
            KeyCache.entries(Map.of(key(rounds, number), "value of " + key(rounds, number)))
                    .forEach(entries -> keys.register(entries, wires.now()));
            entered[rounds]++;
            fence.enter(wires.now());
        }

        private void released(long now) {
            assertEquals(nodes.size(), entered[rounds],
                    "seed " + seed + ": node " + number + " was let go before all had come");
            List<String> wanted = List.of(key(rounds, random.nextInt(nodes.size())),
                    key(random.nextInt(rounds + 1), random.nextInt(nodes.size())), "nobody's " + number);
            asked.addLast(wanted);
            keys.ask(wanted.stream().mapToLong(KeyCache::number).toArray(), now);
            if (++rounds < FENCES) {
                enter();
            }
        }

        @Override
        public void begin(long now) {
            throw new IllegalStateException("no tables are exchanged");
        }

        @Override
        public void refused(String why, long now) {
            refused.add(why);
        }

        /** In the order of the questions, since links keep it and all go the same way. */
        @Override
        public void answered(int question, long[] absent, long now) {
            List<String> wanted = asked.removeFirst();
            assertArrayEquals(new long[]{KeyCache.number("nobody's " + number)}, absent, "seed " + seed);
            for (String key : wanted.subList(0, 2)) {
                assertEquals("value of " + key, cache.get(key), "seed " + seed);
            }
            answers++;
        }
    }

    private interface Passes {
        boolean test(int from, int to, byte[] message);
    }

    private Passes passes = (from, to, message) -> true;
    private final List<Node> nodes = new ArrayList<>();
    private final int[] entered = new int[FENCES];
    private Wires wires;
    private Random random;
    private long seed;

    @Test
    void allComeBeforeOneIsLetGoAndWhatTheyPutIsFound() throws MalformedMessage {
        for (seed = 0; seed < RUNS; seed++) {
            random = new Random(seed);
            Tree tree = new Tree(1 + random.nextInt(40), 2 + random.nextInt(6));
            wires = new Wires(random, tree.nodes(), random.nextInt(3) * 0.1, random.nextInt(3) * 0.2);
            nodes.clear();
            Arrays.fill(entered, 0);
            for (int node = 0; node < tree.nodes(); node++) {
                nodes.add(new Node(node, tree));
            }
            List<Node> late = new ArrayList<>(nodes);
            for (int steps = 0; steps < 5000 && nodes.stream().anyMatch(node -> node.answers < FENCES); steps++) {
                if (!late.isEmpty()) {
                    late.remove(random.nextInt(late.size())).begin();
                }
                wires.step(5);
            }
            for (Node node : nodes) {
                assertEquals(FENCES, node.answers, "seed " + seed + ", " + tree + ": node " + node.number);
            }
        }
    }

    @Test
    void entriesThatAreLostWithALivingParentGoUpAgain() throws MalformedMessage {
        tree(new Tree(7, 2));
        // only node 3's heartbeats still reach node 1
        passes = (from, to, message) -> !(from == 1 && to == 3 || from == 3 && to == 1 && message[1] != 0);
        nodes.forEach(
                node -> node.keys.register(KeyCache.entries(Map.of("of " + node.number, "x")).getFirst(), wires.now()));
        for (int steps = 0; steps < 300 && nodes.get(3).part.treeNode().parent() != 0; steps++) {
            wires.step(5);
        }
        wires.step(5);
        assertEquals(0, nodes.get(3).part.treeNode().parent());
        assertTrue(nodes.get(1).part.treeNode().lost().isEmpty(), "the parent before lives, and does not know");
        assertNull(nodes.get(1).cache.get("of 3"));
        nodes.stream().filter(node -> node.number != 3).forEach(node -> node.keys.complete(wires.now()));
        wires.step(5);
        assertEquals("x", nodes.getFirst().cache.get("of 3"));
    }

    @Test
    void oneKeyPutTwiceIsNamedAndTheOthersOfItsMessageAreKept() throws MalformedMessage {
        tree(new Tree(7, 2));
        nodes.forEach(node -> node.keys.complete(wires.now()));
        wires.step(5);
        nodes.get(6).keys.register(KeyCache.entries(Map.of("twice", "first")).getFirst(), wires.now());
        wires.step(5);
        nodes.get(3).keys.register(
                KeyCache.entries(new TreeMap<>(Map.of("a", "1", "twice", "second", "z", "2"))).getFirst(), wires.now());
        try {
            wires.step(5);
        } catch (MalformedMessage e) {
            throw new AssertionError("a key that is put twice is no reason to give up a neighbour", e);
        }
        wires.step(5);
        assertEquals("1", nodes.getFirst().cache.get("a"));
        assertEquals("2", nodes.getFirst().cache.get("z"));
        assertEquals("first", nodes.getFirst().cache.get("twice"));
        assertTrue(nodes.get(3).refused.getFirst().contains("'twice'"), "the node that put it hears of it");
        assertTrue(nodes.get(6).refused.isEmpty());
        byte[] again = KeyCache.entries(Map.of("a", "3")).getFirst();
        assertTrue(assertThrows(IllegalArgumentException.class, () -> nodes.get(3).keys.register(again, wires.now()))
                .getMessage().contains("'a'"));
    }

    @Test
    void aBarriersNodesBeyondAllNumbersAreRefused() {
        tree(new Tree(7, 2));
        ByteBuffer message =
                ByteBuffer.allocate(17).put((byte) 1).putInt(1).putInt(Integer.MAX_VALUE).putLong(1).flip();
        assertThrows(MalformedMessage.class, () -> nodes.get(1).fence.received(3, message, 0));
    }

    private void tree(Tree tree) {
        random = new Random(1);
        wires = new Wires(random, tree.nodes(), 0, 0);
        nodes.clear();
        for (int node = 0; node < tree.nodes(); node++) {
            nodes.add(new Node(node, tree));
        }
    }

    @Test
    void pairsComeBackAsTheyWereAndNoKeyIsPutTwice() throws MalformedMessage, RefusedEntries {
        KeyCache cache = new KeyCache("PMI key");
        for (byte[] entries : KeyCache.entries(Map.of("a", "1", "b", "", "\u00fc", "\u4e2d"))) {
            cache.add(entries);
            cache.add(entries); // a repetition is no second put
        }
        assertEquals("1", cache.get("a"));
        assertEquals("", cache.get("b"));
        assertEquals("\u4e2d", cache.get("\u00fc"));
        assertNull(cache.get("c"));
        byte[] other = KeyCache.entries(Map.of("a", "2")).getFirst();
        assertTrue(assertThrows(RefusedEntries.class, () -> cache.add(other)).getMessage().contains("'a'"));
        assertThrows(MalformedMessage.class, () -> cache.add(new byte[]{0, 1, 'x', 0, 0, 1, 0}));
    }

    private static String key(int round, int node) {
        return "card-" + round + "-" + node;
    }
}
