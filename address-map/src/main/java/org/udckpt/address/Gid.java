package org.udckpt.address;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/**
 * A 128-bit InfiniBand GID in network order.
 *
 * @param prefix      the first 8 bytes (subnet prefix), big-endian
 * @param interfaceId the last 8 bytes, big-endian
 */
public record Gid(long prefix, long interfaceId) {
    public static final int BYTES = 16;
    public static final Gid ZERO = new Gid(0, 0);

    /** Reads 16 bytes in network order at {@code offset} of {@code from}, whatever its byte order. */
    public static Gid read(byte[] from, int offset) {
        ByteBuffer buffer = ByteBuffer.wrap(from, offset, BYTES);
        return new Gid(buffer.getLong(), buffer.getLong());
    }

    public boolean isZero() {
        return equals(ZERO);
    }

    public byte[] bytes() {
        return ByteBuffer.allocate(BYTES).putLong(prefix).putLong(interfaceId).array();
    }

    /** Eight groups of four hexadecimal digits, as sysfs prints a GID. */
    @Override
    public String toString() {
        String hex = HexFormat.of().formatHex(bytes());
        return String.join(":", hex.split("(?<=\\G.{4})"));
    }
}
