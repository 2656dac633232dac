package org.udckpt.coordination.lookup;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.TreeNode;

/**
 * One node's part in sums over all nodes, which the root has a little late: when a node {@link #tell}s, it says to the
 * one above what it counts and what those below it have said last. So a node gets no more of these messages than it has
 * nodes right below, times the rate at which each tells. What a node that is lost had counted is in the sums no more;
 * one that has found another node above is in them twice until the node that it came from is lost.
 */
public final class Totals {
    /**
     * The counters.
     *
     * @param epoch   to which {@code ofEpoch} belongs, from 1; 0: to none. Only those of the latest one are added up
     * @param ofEpoch as many at all nodes
     * @param lasting as many at all nodes, whatever the epoch
     */
    public record Counts(long epoch, long[] ofEpoch, long[] lasting) {
        /** Counts of a node that has none. */
        public static Counts none(int ofEpoch, int lasting) {
            return new Counts(0, new long[ofEpoch], new long[lasting]);
        }

        Counts and(Counts other) {
            long[] newest =
                    epoch > other.epoch ? ofEpoch : epoch < other.epoch ? other.ofEpoch : sum(ofEpoch, other.ofEpoch);
            return new Counts(Math.max(epoch, other.epoch), newest, sum(lasting, other.lasting));
        }

        private static long[] sum(long[] one, long[] other) {
            long[] sum = one.clone();
            Arrays.setAll(sum, i -> sum[i] + other[i]);
            return sum;
        }
    }

    private final byte channel;
    private final TreeNode treeNode;
    private final Consumer<Counts> changed;
    private final Map<Integer, Counts> below = new HashMap<>();
    private Counts own;

    /**
     * @param channel the first byte of its messages
     * @param none    what a node has counted that has not said anything yet, of the lengths that all have
     * @param changed at the root: hears of new sums; elsewhere of nothing
     */
    public Totals(byte channel, TreeNode treeNode, Counts none, Consumer<Counts> changed) {
        this.channel = channel;
        this.treeNode = treeNode;
        this.own = none;
        this.changed = changed;
    }

    /** What this node has counted; goes up with all that is known from below. */
    public void tell(Counts counts, long now) {
        own = counts;
        Counts all = all();
        if (treeNode.parent() < 0) {
            changed.accept(all);
            return;
        }
        ByteBuffer message = ByteBuffer.allocate(1 + 8 * (1 + all.ofEpoch.length + all.lasting.length)).put(channel)
                .putLong(all.epoch);
        for (long[] some : new long[][]{all.ofEpoch, all.lasting}) {
            for (long count : some) {
                message.putLong(count);
            }
        }
        treeNode.post(treeNode.parent(), message.array(), now);
    }

    /** A neighbour's message, behind its channel. */
    public void received(int from, ByteBuffer message) throws MalformedMessage {
        try {
            Counts counts =
                    new Counts(message.getLong(), take(message, own.ofEpoch.length), take(message, own.lasting.length));
            if (message.hasRemaining() || counts.epoch < 0 || from == treeNode.parent()) {
                throw new MalformedMessage("counts of node " + from + " in " + message.limit() + " bytes");
            }
            below.put(from, counts);
        } catch (BufferUnderflowException e) {
            throw new MalformedMessage("counts are truncated after " + message.limit() + " bytes", e);
        }
        if (treeNode.parent() < 0) {
            changed.accept(all());
        }
    }

    /** A node right below, or anywhere, is lost. */
    public void lost(int node) {
        below.remove(node);
    }

    private Counts all() {
        return below.values().stream().reduce(own, Counts::and);
    }

    private static long[] take(ByteBuffer message, int count) {
        long[] taken = new long[count];
        for (int i = 0; i < count; i++) {
            taken[i] = message.getLong();
        }
        return taken;
    }
}
