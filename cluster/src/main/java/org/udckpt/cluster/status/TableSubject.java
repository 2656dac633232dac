package org.udckpt.cluster.status;

import java.nio.ByteBuffer;

/**
 * What a table between nodes is of: {@code u8 version = 1, u8 kind, i32 question}, big-endian.
 *
 * @param question of the lead that it answers, from 1
 */
public record TableSubject(Kind kind, int question) {
    private static final byte VERSION = 1;
    private static final int BYTES = 6;

    /** By the place of the constant. */
    public enum Kind {
        RANKS, ENDPOINTS
    }

    public byte[] encode() {
        return ByteBuffer.allocate(BYTES).put(VERSION).put((byte) kind.ordinal()).putInt(question).array();
    }

    /** @throws IllegalArgumentException for bytes that {@link #encode} has not made */
    static TableSubject decode(byte[] bytes) {
        if (bytes.length != BYTES || bytes[0] != VERSION || bytes[1] < 0 || bytes[1] >= Kind.values().length) {
            throw new IllegalArgumentException("a table with a malformed subject, of " + bytes.length + " bytes");
        }
        return new TableSubject(Kind.values()[bytes[1]], ByteBuffer.wrap(bytes, 2, Integer.BYTES).getInt());
    }
}
