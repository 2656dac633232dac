package org.udckpt.coordination.lookup;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongConsumer;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.TreeNode;

/**
 * One node's part in barriers that begin below: a node has entered when all of its ranks have, and all are released
 * when all nodes have entered. What was posted before, also entries of an {@link TableResolver}, is at the root by
 * then. Who has entered is said as a set of nodes, so that one that comes by two ways is one. With a lost node no
 * barrier ends any more: its ranks will not come.
 */
public final class Fence {
    private static final byte ENTERED = 1, RELEASED = 2;
    private static final int HEADER_BYTES = 10;

    private final byte channel;
    private final TreeNode treeNode;
    private final LongConsumer released;
    private final Set<Integer> heardOf = new HashSet<>();
    private final BitSet inside = new BitSet();
    private final MessageCounts traffic = new MessageCounts();
    private int number = 1;

    /**
     * @param channel  the first byte of its messages
     * @param released is told the time when all have entered; another barrier may be entered then
     */
    public Fence(byte channel, TreeNode treeNode, LongConsumer released) {
        this.channel = channel;
        this.treeNode = treeNode;
        this.released = released;
    }

    /** All ranks of this node have entered. */
    public void enter(long now) {
        if (inside.get(treeNode.self())) {
            throw new IllegalStateException("node " + treeNode.self() + " has already entered barrier " + number);
        }
        inside.set(treeNode.self());
        check(now);
    }

    /** Messages of this node about barriers. */
    public MessageCounts traffic() {
        return traffic;
    }

    /** A neighbour's message, behind its channel. */
    public void received(int from, ByteBuffer message, long now) throws MalformedMessage {
        traffic.receive();
        try {
            byte kind = message.get();
            int of = message.getInt();
            if (from == treeNode.parent() != (kind == RELEASED) || kind != RELEASED && kind != ENTERED) {
                throw new MalformedMessage("a barrier's message of kind " + kind + " from node " + from);
            }
            if (kind == RELEASED) {
                release(of, now);
            } else if (of < number) {
                // it comes from a node above that is lost, and has not heard of it
                post(from, RELEASED, of, new BitSet(), now);
            } else if (of == number) {
                inside.or(nodes(message));
                heardOf.add(from);
                check(now);
            } else {
                throw new MalformedMessage("node " + from + " has entered barrier " + of + " before barrier " + number
                        + " ended");
            }
        } catch (BufferUnderflowException e) {
            throw new MalformedMessage("a barrier message is truncated", e);
        }
    }

    /** A node is lost. */
    public void lost(long now) {
        check(now);
    }

    /** There is another node above. */
    public void attached(long now) {
        check(now);
    }

    private void check(long now) {
        if (!inside.get(treeNode.self())) {
            return;
        }
        if (treeNode.parent() < 0) {
            if (inside.cardinality() == treeNode.tree().nodes()) {
                release(number, now);
            }
        } else if (heardOf.containsAll(treeNode.children())) {
            post(treeNode.parent(), ENTERED, number, inside, now);
        }
    }

    private void release(int of, long now) {
        if (of != number) {
            return;
        }
        number++;
        inside.clear();
        heardOf.clear();
        for (int child : treeNode.children()) {
            post(child, RELEASED, of, new BitSet(), now);
        }
        released.accept(now);
    }

    /**
     * Channel, kind, barrier, then the set: words of 64 nodes from the first one that is not 0 on, with its place
     * before them.
     */
    private void post(int to, byte kind, int of, BitSet nodes, long now) {
        int first = Math.max(0, nodes.nextSetBit(0)) / Long.SIZE;
        long[] words = nodes.toLongArray();
        ByteBuffer message = ByteBuffer.allocate(HEADER_BYTES + Long.BYTES * Math.max(0, words.length - first));
        message.put(channel).put(kind).putInt(of).putInt(first);
        for (int word = first; word < words.length; word++) {
            message.putLong(words[word]);
        }
        traffic.send();
        treeNode.post(to, message.array(), now);
    }

    private BitSet nodes(ByteBuffer message) throws MalformedMessage {
        int first = message.getInt();
        int most = (treeNode.tree().nodes() + Long.SIZE - 1) / Long.SIZE;
        if (first < 0 || message.remaining() % Long.BYTES != 0 || first > most - message.remaining() / Long.BYTES) {
            throw new MalformedMessage(
                    "a barrier's nodes from word " + first + " on in " + message.remaining() + " bytes");
        }
        long[] words = new long[first + message.remaining() / Long.BYTES];
        for (int word = first; word < words.length; word++) {
            words[word] = message.getLong();
        }
        BitSet nodes = BitSet.valueOf(words);
        if (nodes.length() > treeNode.tree().nodes()) {
            throw new MalformedMessage(
                    "node " + (nodes.length() - 1) + " of " + treeNode.tree().nodes() + " has entered a barrier");
        }
        return nodes;
    }
}
