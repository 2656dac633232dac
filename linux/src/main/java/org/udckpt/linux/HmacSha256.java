package org.udckpt.linux;

import java.util.Arrays;

/**
 * HMAC-SHA256 (RFC 2104). The JDK's looks for its providers first, in every jar: a tenth of the processor time before
 * a restarted job's first instruction.
 */
public final class HmacSha256 {
    private static final int BLOCK = 64, INNER = 0x36, OUTER = 0x5c;

    private HmacSha256() {}

    /** Under this key, of all these bytes, one after the other. */
    public static byte[] of(byte[] key, byte[]... parts) {
        byte[] block = Arrays.copyOf(key.length > BLOCK ? Sha256.of(key) : key, BLOCK);
        byte[][] all = new byte[parts.length + 1][];
        all[0] = padded(block, INNER);
        System.arraycopy(parts, 0, all, 1, parts.length);
        return Sha256.of(padded(block, OUTER), Sha256.of(all));
    }

    private static byte[] padded(byte[] block, int with) {
        byte[] result = new byte[BLOCK];
        for (int i = 0; i < BLOCK; i++) {
            result[i] = (byte) (block[i] ^ with);
        }
        return result;
    }
}
