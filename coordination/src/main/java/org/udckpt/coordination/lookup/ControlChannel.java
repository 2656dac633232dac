package org.udckpt.coordination.lookup;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.TreeNode;
import org.udckpt.coordination.tree.TreeTransport;

/**
 * Control messages outside of calls: from a node up to the root, and from the root down to all other nodes. The root
 * has a message that a node sent before it answered a call before that call ends. Persistent messages are sent again to
 * a new parent, and are delivered to the root once; others, and those to all nodes, may be lost with a node on their
 * way.
 */
public final class ControlChannel {
    /** The longest message, in bytes. */
    public static final int MAX_BYTES = TreeTransport.MAX_MESSAGE_BYTES - 1024;
    private static final byte UP = 1, PERSISTENT = 2, DOWN = 3;
    private static final int HEADER_BYTES = 10;

    /** Receives them. */
    public interface Reader {
        /** At the root: a node's message. @throws MalformedMessage if no node sends such a message */
        void fromNode(int node, byte[] message, long now) throws MalformedMessage;

        /** At all other nodes: the root's message. @throws MalformedMessage if no root sends such a message */
        void fromRoot(byte[] message, long now) throws MalformedMessage;
    }

    private record Origin(int node, int number) {}

    private final byte channel;
    private final TreeNode treeNode;
    private final Reader reader;
    /** Persistent ones of this node and of those below it. */
    private final List<byte[]> persistent = new ArrayList<>();
    private final Set<Origin> read = new HashSet<>();
    private int lastUp;
    private int lastDown;

    /** @param channel the first byte of its messages */
    public ControlChannel(byte channel, TreeNode treeNode, Reader reader) {
        this.channel = channel;
        this.treeNode = treeNode;
        this.reader = reader;
    }

    /** From this node, which is not the root. */
    public void toRoot(byte[] content, boolean persists, long now) {
        up(message(persists ? PERSISTENT : UP, treeNode.self(), ++lastUp, content), persists, now);
    }

    /** From the root to all others. */
    public void toAll(byte[] content, long now) {
        down(message(DOWN, treeNode.self(), ++lastDown, content), now);
    }

    /** A neighbour's message, behind its channel. */
    public void received(int from, ByteBuffer message, long now) throws MalformedMessage {
        byte[] whole = message.array();
        try {
            byte kind = message.get();
            int node = message.getInt();
            int number = message.getInt();
            byte[] content = new byte[message.remaining()];
            message.get(content);
            if (from == treeNode.parent() != (kind == DOWN) || kind < UP || kind > DOWN) {
                throw new MalformedMessage("a control message of kind " + kind + " from node " + from);
            }
            if (kind == DOWN) {
                if (number > lastDown) { // else one that came by a node above that is lost now
                    lastDown = number;
                    down(whole, now);
                    reader.fromRoot(content, now);
                }
            } else if (treeNode.parent() >= 0) {
                up(whole, kind == PERSISTENT, now);
            } else if (read.add(new Origin(node, number))) {
                reader.fromNode(node, content, now);
            }
        } catch (BufferUnderflowException e) {
            throw new MalformedMessage("a control message is truncated after " + whole.length + " bytes", e);
        }
    }

    /** There is another node above. */
    public void attached(long now) {
        persistent.forEach(message -> treeNode.post(treeNode.parent(), message, now));
    }

    private void up(byte[] message, boolean persists, long now) {
        if (persists) {
            persistent.add(message);
        }
        treeNode.post(treeNode.parent(), message, now);
    }

    private void down(byte[] message, long now) {
        treeNode.children().forEach(child -> treeNode.post(child, message, now));
    }

    private byte[] message(byte kind, int node, int number, byte[] content) {
        if (content.length > MAX_BYTES) {
            throw new IllegalArgumentException("a control message of " + content.length + " bytes");
        }
        return ByteBuffer.allocate(HEADER_BYTES + content.length).put(channel).put(kind).putInt(node).putInt(number)
                .put(content).array();
    }
}
