package org.udckpt.transport;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.coordination.tree.TreeTransport;

/**
 * A shipment as bytes: who sends it and its number, then what it carries. Numbers are big-endian.
 *
 * <pre>
 * int32 version | int32 from | int64 incarnation | int64 sequence | parts: (int32 length | bytes)*
 * </pre>
 *
 * @param from number of the sending node
 * @param incarnation of its channel, random: an agent that was started anew counts anew, and so does one that had given
 *     this node up
 * @param sequence of the shipment among those of this incarnation to this receiver, from 1
 * @param parts the messages; of a table's shipment its subject alone
 */
record Envelope(int from, long incarnation, long sequence, List<byte[]> parts) {
    static final int HEADER_BYTES = 24, PART_BYTES = 4;
    private static final int VERSION = 1;

    byte[] encode() {
        int size = HEADER_BYTES;
        for (byte[] part : parts) {
            size += PART_BYTES + part.length;
        }
        ByteBuffer bytes =
                ByteBuffer.allocate(size).putInt(VERSION).putInt(from).putLong(incarnation).putLong(sequence);
        for (byte[] part : parts) {
            bytes.putInt(part.length).put(part);
        }
        return bytes.array();
    }

    /** @throws IllegalArgumentException when the bytes are none of these; the text says why */
    static Envelope decode(byte[] encoded) {
        try {
            ByteBuffer bytes = ByteBuffer.wrap(encoded);
            int version = bytes.getInt();
            if (version != VERSION) {
                throw new IllegalArgumentException("a shipment of version " + version + ", not " + VERSION);
            }
            int from = bytes.getInt();
            long incarnation = bytes.getLong();
            long sequence = bytes.getLong();
            if (from < 0 || sequence < 1) {
                throw new IllegalArgumentException("a shipment of node " + from + " with number " + sequence);
            }
            List<byte[]> parts = new ArrayList<>();
            while (bytes.hasRemaining()) {
                parts.add(part(bytes));
            }
            return new Envelope(from, incarnation, sequence, parts);
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("a shipment truncated after " + encoded.length + " bytes", e);
        }
    }

    private static byte[] part(ByteBuffer bytes) {
        int length = bytes.getInt();
        if (length < 0 || length > TreeTransport.MAX_MESSAGE_BYTES || length > bytes.remaining()) {
            throw new IllegalArgumentException(
                    "a part of " + length + " bytes, where " + bytes.remaining() + " follow");
        }
        byte[] part = new byte[length];
        bytes.get(part);
        return part;
    }
}
