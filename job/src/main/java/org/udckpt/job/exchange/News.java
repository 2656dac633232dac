package org.udckpt.job.exchange;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.udckpt.job.tree.Links;
import org.udckpt.job.tree.MalformedMessage;
import org.udckpt.job.tree.Member;

/**
 * One node's part in notes that are no answers: from a node to the root, passed up, and from the root to all, passed down. What a node wrote before it
 * answered a call is at the root before that call has ended. Notes that last are written again to another node above, and reach the root once;
 * others, and those to all, may be lost with a node on their way.
 */
public final class News {
    /** The longest note, in bytes. */
    public static final int MAX_BYTES = Links.MAX_MESSAGE_BYTES - 1024;
    private static final byte UP = 1, LASTING = 2, DOWN = 3;
    private static final int HEADER_BYTES = 10;

    /** Who reads them. */
    public interface Reader {
        /** At the root: a node's note. @throws MalformedMessage if no node would have written it */
        void fromNode(int node, byte[] note, long now) throws MalformedMessage;

        /** The root's, at all other nodes. @throws MalformedMessage if no root would have written it */
        void fromRoot(byte[] note, long now) throws MalformedMessage;
    }

    private record Origin(int node, int number) {}

    private final byte channel;
    private final Member member;
    private final Reader reader;
    /** Lasting ones of this node and those below it. */
    private final List<byte[]> lasting = new ArrayList<>();
    private final Set<Origin> read = new HashSet<>();
    private int lastUp;
    private int lastDown;

    /** @param channel the first byte of its messages */
    public News(byte channel, Member member, Reader reader) {
        this.channel = channel;
        this.member = member;
        this.reader = reader;
    }

    /** A note of this node, which is not the root. */
    public void toRoot(byte[] note, boolean lasts, long now) {
        up(message(lasts ? LASTING : UP, member.self(), ++lastUp, note), lasts, now);
    }

    /** A note of the root for all others. */
    public void toAll(byte[] note, long now) {
        down(message(DOWN, member.self(), ++lastDown, note), now);
    }

    /** A neighbour's message, behind its channel. */
    public void received(int from, ByteBuffer message, long now) throws MalformedMessage {
        byte[] whole = message.array();
        try {
            byte kind = message.get();
            int node = message.getInt();
            int number = message.getInt();
            byte[] note = new byte[message.remaining()];
            message.get(note);
            if (from == member.parent() != (kind == DOWN) || kind < UP || kind > DOWN) {
                throw new MalformedMessage("a note of kind " + kind + " from node " + from);
            }
            if (kind == DOWN) {
                if (number > lastDown) { // else one that came by a node above that is lost now
                    lastDown = number;
                    down(whole, now);
                    reader.fromRoot(note, now);
                }
            } else if (member.parent() >= 0) {
                up(whole, kind == LASTING, now);
            } else if (read.add(new Origin(node, number))) {
                reader.fromNode(node, note, now);
            }
        } catch (BufferUnderflowException e) {
            throw new MalformedMessage("a note breaks off after " + whole.length + " bytes", e);
        }
    }

    /** There is another node above. */
    public void attached(long now) {
        lasting.forEach(message -> member.post(member.parent(), message, now));
    }

    private void up(byte[] message, boolean lasts, long now) {
        if (lasts) {
            lasting.add(message);
        }
        member.post(member.parent(), message, now);
    }

    private void down(byte[] message, long now) {
        member.children().forEach(child -> member.post(child, message, now));
    }

    private byte[] message(byte kind, int node, int number, byte[] note) {
        if (note.length > MAX_BYTES) {
            throw new IllegalArgumentException("a note of " + note.length + " bytes");
        }
        return ByteBuffer.allocate(HEADER_BYTES + note.length).put(channel).put(kind).putInt(node).putInt(number).put(note).array();
    }
}
