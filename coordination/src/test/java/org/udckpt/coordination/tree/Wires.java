package org.udckpt.coordination.tree;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Members with nothing but a pile of messages between them, which are handed on in any order, twice, or not at all. */
public final class Wires {
    private record Letter(int from, int to, byte[] message) {}

    private final Random random;
    private final double loss;
    private final double twice;
    private final List<Letter> pile = new ArrayList<>();
    private final TreeNode[] members;
    private long now;

    public Wires(Random random, int nodes, double loss, double twice) {
        this.random = random;
        this.loss = loss;
        this.twice = twice;
        members = new TreeNode[nodes];
    }

    public TreeTransport links(int from) {
        return (to, message) -> {
            if (random.nextDouble() >= loss) {
                pile.add(new Letter(from, to, message));
            }
            if (random.nextDouble() < twice) {
                pile.add(new Letter(from, to, message));
            }
        };
    }

    public void put(int node, TreeNode treeNode) {
        members[node] = treeNode;
    }

    public long now() {
        return now;
    }

    /** Time goes on, every timer rings that is due, and all that was sent arrives, in an order of chance. */
    public void step(long nanos) throws MalformedMessage {
        now += nanos;
        for (TreeNode treeNode : members) {
            if (treeNode.due() <= now) {
                treeNode.onTimer(now);
            }
        }
        while (!pile.isEmpty()) {
            Letter letter = pile.remove(random.nextInt(pile.size()));
            members[letter.to].onMessage(letter.from, letter.message, now);
        }
    }
}
