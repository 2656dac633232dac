package org.udckpt.coordination.tree;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * What calls and posts promise, over links that promise nothing. Losses of nodes are tried in the simulation
 * (FaultRunTest).
 */
class TreeNodeTest {
    private static final int RUNS = 300;
    private static final Timing TIMING = new Timing(10, 1000, 1000);
    private static final long LONG = 1_000_000;

    /** Counts each call once at each node, and remembers what was posted to it. */
    private static class Counter implements TreeListener {
        private final long number;
        private TreeNode treeNode;
        private final List<Long> calls = new ArrayList<>();
        private final List<Integer> posts = new ArrayList<>();
        private CallResult ended;
        private String failure;

        Counter(long number) {
            this.number = number;
        }

        @Override
        public void call(Call call, long now) {
            calls.add(call.id());
            treeNode.answer(call.id(), failure, new long[]{1, number}, now);
            treeNode.answer(call.id(), null, new long[]{1000, 1000}, now); // the second answer is one too many
        }

        @Override
        public void ended(Call call, CallResult tally, long now) {
            assertNull(ended, "ended twice");
            ended = tally;
        }

        @Override
        public void received(int from, byte[] body, long now) {
            posts.add(body[0] & 0xff);
        }

        @Override
        public void lost(int node, long now) {
            throw new IllegalStateException("node " + node + " is lost, and all live");
        }

        @Override
        public void attached(int parent, long now) {
            throw new IllegalStateException("another parent, and all live");
        }

        @Override
        public void over(String why, long now) {
            throw new IllegalStateException(why);
        }
    }

    private final List<Counter> parts = new ArrayList<>();
    private final List<TreeNode> members = new ArrayList<>();
    private Wires wires;

    private void tree(Random random, Tree tree, double loss, double twice) {
        parts.clear();
        members.clear();
        wires = new Wires(random, tree.nodes(), loss, twice);
        for (int node = 0; node < tree.nodes(); node++) {
            Counter part = new Counter(node);
            part.treeNode = new TreeNode(node, 7, tree, TIMING, wires.links(node), part, 0);
            parts.add(part);
            members.add(part.treeNode);
            wires.put(node, part.treeNode);
        }
    }

    @Test
    void everyNodeIsCalledOnceAndCountedOnce() throws MalformedMessage {
        for (long seed = 0; seed < RUNS; seed++) {
            Random random = new Random(seed);
            Tree tree = new Tree(1 + random.nextInt(60), 2 + random.nextInt(31));
            tree(random, tree, random.nextInt(3) * 0.1, random.nextInt(3) * 0.2);
            for (long call = 1; call <= 3; call++) {
                parts.getFirst().ended = null;
                members.getFirst().call(1, true, LONG, new byte[0], wires.now());
                for (int steps = 0; steps < 2000 && parts.getFirst().ended == null; steps++) {
                    wires.step(5);
                }
                CallResult tally = parts.getFirst().ended;
                assertNotNull(tally, "seed " + seed + ": " + tree + " never answered");
                assertNull(tally.failure(), "seed " + seed);
                assertEquals(tree.nodes(), tally.nodes(), "seed " + seed);
                long all = tree.nodes();
                assertArrayEquals(new long[]{all, all * (all - 1) / 2}, tally.sums(), "seed " + seed);
                assertEquals(tree.depth() + 1, tally.levels().length, "seed " + seed);
            }
            for (Counter part : parts) {
                assertEquals(List.of(1L, 2L, 3L), part.calls, "seed " + seed + ": node " + part.number);
            }
        }
    }

    @Test
    void postsArriveInOrderAndOnce() throws MalformedMessage {
        for (long seed = 0; seed < RUNS; seed++) {
            Random random = new Random(seed);
            tree(random, new Tree(4, 3), 0.2, 0.2);
            List<Integer> sent = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                members.get(2).post(0, new byte[]{(byte) i}, wires.now());
                sent.add(i);
                if (random.nextBoolean()) {
                    wires.step(random.nextInt(20));
                }
            }
            for (int steps = 0; steps < 2000 && parts.getFirst().posts.size() < sent.size(); steps++) {
                wires.step(5);
            }
            assertEquals(sent, parts.getFirst().posts, "seed " + seed);
            for (int steps = 0; steps < 100; steps++) {
                wires.step(5);
            }
            assertEquals(0, members.get(2).waitingBytes(), "seed " + seed + ": acknowledged");
        }
    }

    @Test
    void oneNodesFailureEndsACallOfAllAndNamesIt() throws MalformedMessage {
        tree(new Random(1), new Tree(30, 3), 0, 0);
        parts.get(22).failure = "no space left";
        members.getFirst().call(1, true, LONG, new byte[0], 0);
        wires.step(5);
        assertEquals(new CallResult.Failure(22, "no space left"), parts.getFirst().ended.failure());
    }

    @Test
    void aLateNodeIsNamedBeforeTheCallIsForgotten() throws MalformedMessage {
        tree(new Random(1), new Tree(30, 3), 0, 0);
        Counter mute = new Counter(25) {
            @Override
            public void call(Call call, long now) {}
        };
        mute.treeNode = new TreeNode(25, 7, new Tree(30, 3), TIMING, wires.links(25), mute, 0);
        wires.put(25, mute.treeNode);
        members.getFirst().call(1, true, 200, new byte[0], 0);
        for (int steps = 0; steps < 60 && parts.getFirst().ended == null; steps++) {
            wires.step(5);
        }
        assertEquals(25, parts.getFirst().ended.failure().node());
        assertTrue(wires.now() <= 200 + TIMING.heartbeat(), "ended at " + wires.now());
    }

    @Test
    void aLaterCallEndsAnEarlierOne() throws MalformedMessage {
        tree(new Random(1), new Tree(10, 3), 0, 0);
        members.getFirst().call(1, true, LONG, new byte[0], 0);
        long second = members.getFirst().call(2, false, LONG, new byte[]{9}, 0);
        wires.step(5);
        assertEquals(10, parts.getFirst().ended.nodes());
        for (Counter part : parts) {
            assertEquals(second, part.calls.getLast());
        }
    }

    @Test
    void messagesOfAnotherIncarnationAreNotListenedTo() throws MalformedMessage {
        tree(new Random(1), new Tree(3, 2), 0, 0);
        byte[] other = new TreeMessage(TreeMessage.Kind.POST, 8, 0, 1, new byte[]{1}).encode();
        members.getFirst().onMessage(1, other, 0);
        assertTrue(parts.getFirst().posts.isEmpty());
        byte[] own = new TreeMessage(TreeMessage.Kind.POST, 7, 0, 1, new byte[]{1}).encode();
        members.getFirst().onMessage(1, own, 0);
        assertEquals(List.of(1), parts.getFirst().posts);
    }

    @Test
    void whatStandsBehindAMalformedMessageArrives() throws MalformedMessage {
        tree(new Random(1), new Tree(3, 2), 0, 0);
        TreeNode root = members.getFirst();
        root.onMessage(1, post(2, new byte[]{2}), 0);
        byte[] bad = new TreeMessage(TreeMessage.Kind.RESULT, 7, 0, 1, new byte[3]).encode();
        assertThrows(MalformedMessage.class, () -> root.onMessage(1, bad, 0));
        assertEquals(List.of(2), parts.getFirst().posts);
    }

    @Test
    void whatComesEarlyIsBoundedAndIsTakenLater() throws MalformedMessage {
        tree(new Random(1), new Tree(3, 2), 0, 0);
        TreeNode root = members.getFirst();
        byte[] large = new byte[TreeMessage.MAX_BODY_BYTES];
        int most = Link.MOST_EARLY_BYTES / large.length;
        for (int number = 2; number <= most + 5; number++) {
            root.onMessage(1, post(number, large), 0);
        }
        root.onMessage(1, post(1, large), 0);
        assertEquals(1 + most, parts.getFirst().posts.size());
        root.onMessage(1, post(most + 2, large), 0);
        assertEquals(2 + most, parts.getFirst().posts.size());
    }

    @Test
    void anAnswerThatGoesToASecondParentIsNoProofOfAll() throws MalformedMessage {
        List<byte[]> toRoot = new ArrayList<>();
        Counter part = new Counter(3) {
            @Override
            public void attached(int parent, long now) {}
        };
        part.treeNode = new TreeNode(3, 7, new Tree(7, 2), TIMING, (to, message) -> {
            if (to == 0) {
                toRoot.add(message);
            }
        }, part, 0);
        byte[] call = new TreeMessage(TreeMessage.Kind.CALL, 7, 0, 1,
                TreeMessage.encode(new Call(1, 5, false, LONG, new byte[0]))).encode();
        part.treeNode.onMessage(1, call, 1);
        part.treeNode.onTimer(2 + TIMING.lease());
        assertEquals(0, part.treeNode.parent());
        toRoot.clear();
        part.treeNode.onMessage(0, call, 3 + TIMING.lease());
        assertEquals(List.of(1L), part.calls);
        CallResult said = TreeMessage.Result.decode(TreeMessage.decode(toRoot.getFirst()).body()).tally();
        assertEquals(3, said.failure().node());
    }

    /**
     * A node that died before its first message is known to have connected: it is not waited for as if yet to start.
     */
    @Test
    void whoHasComeAndIsNeverHeardOfIsLostInTwoLeases() throws MalformedMessage {
        Set<Integer> lost = new TreeSet<>();
        Counter part = new Counter(0) {
            @Override
            public void lost(int node, long now) {
                lost.add(node);
            }
        };
        long lease = TIMING.lease(), start = 100 * lease;
        part.treeNode = new TreeNode(0, 7, new Tree(3, 2), new Timing(TIMING.heartbeat(), lease, start),
                (to, message) -> {}, part, 0);
        part.treeNode.onTimer(start / 2);
        assertEquals(Set.of(), lost);
        part.treeNode.allHaveCome(0, start / 2);
        part.treeNode
                .onMessage(1,
                        new TreeMessage(TreeMessage.Kind.HEARTBEAT_UP, 7, 0, 0,
                                new TreeMessage.Heartbeat(false, new int[0]).encode()).encode(),
                        start / 2 + lease + lease / 2);
        part.treeNode.onTimer(start / 2 + 2 * lease);
        assertEquals(Set.of(), lost);
        part.treeNode.allHaveCome(0, start / 2 + 2 * lease); // said again, which gives nobody more time
        part.treeNode.onTimer(start / 2 + 2 * lease + TIMING.heartbeat());
        assertEquals(Set.of(2), lost);
        part.treeNode.onTimer(start / 2 + 3 * lease);
        assertEquals(Set.of(1, 2), lost);
    }

    @Test
    void aNodeThatWasGivenUpAfterItWasAdoptedIsLostForEverybody() throws MalformedMessage {
        Counter part = new Counter(0) {
            @Override
            public void lost(int node, long now) {
                assertEquals(3, node);
            }
        };
        part.treeNode = new TreeNode(0, 7, new Tree(7, 2), TIMING, (to, message) -> {}, part, 0);
        part.treeNode.onMessage(3, new TreeMessage(TreeMessage.Kind.HEARTBEAT_UP, 7, 0, 0,
                new TreeMessage.Heartbeat(false, new int[0]).encode()).encode(), 1);
        assertTrue(part.treeNode.children().contains(3));
        part.treeNode.onMessage(1, new TreeMessage(TreeMessage.Kind.HEARTBEAT_UP, 7, 0, 0,
                new TreeMessage.Heartbeat(false, new int[]{3}).encode()).encode(), 2);
        assertEquals(java.util.Set.of(3), part.treeNode.lost());
        assertFalse(part.treeNode.children().contains(3));
    }

    private static byte[] post(int number, byte[] body) {
        return new TreeMessage(TreeMessage.Kind.POST, 7, 0, number, body).encode();
    }

    @Test
    void bytesOfChanceAreRefusedOrIgnored() {
        Random random = new Random(5);
        tree(random, new Tree(5, 2), 0, 0);
        byte[] good = new TreeMessage(TreeMessage.Kind.RESULT, 7, 0, 1,
                new TreeMessage.Result(1, CallResult.of(1, 5, null, new long[]{1})).encode()).encode();
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = i % 4 == 0 ? new byte[random.nextInt(80)] : good.clone();
            for (int flips = 1 + random.nextInt(6); flips > 0 && bytes.length > 0; flips--) {
                bytes[random.nextInt(Math.min(bytes.length, 40))] = (byte) random.nextInt(256);
            }
            try {
                members.get(1).onMessage(random.nextInt(5), bytes, 0);
            } catch (MalformedMessage expected) {
                refused++;
            }
        }
        assertTrue(refused > 1000, refused + " refused");
        assertFalse(members.get(1).isOver());
    }

    @Test
    void aNodeKnowsItsAncestorsByNumber() {
        Tree tree = new Tree(2047, 16);
        assertEquals(3, tree.depth());
        for (int node = 1; node < tree.nodes(); node++) {
            int parent = tree.parent(node);
            assertTrue(tree.firstChild(parent) <= node && node < tree.endOfChildren(parent));
            assertTrue(tree.isBelow(node, parent) && tree.isBelow(node, 0) && !tree.isBelow(parent, node));
            assertEquals(tree.level(parent) + 1, tree.level(node));
        }
        assertThrows(IllegalArgumentException.class, () -> new Tree(2, 33));
    }
}
