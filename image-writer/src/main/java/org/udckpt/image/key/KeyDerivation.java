package org.udckpt.image.key;

import java.nio.charset.StandardCharsets;
import org.udckpt.linux.HmacSha256;
import org.udckpt.linux.Sha256;

/** HKDF-SHA256 (RFC 5869). */
final class KeyDerivation {
    private KeyDerivation() {}

    /** @param purpose the info of the RFC: outputs for different ones say nothing about each other */
    static byte[] derive(byte[] secret, byte[] salt, String purpose, int bytes) {
        byte[] key = HmacSha256.of(salt, secret);
        byte[] info = purpose.getBytes(StandardCharsets.US_ASCII);
        byte[] result = new byte[bytes];
        byte[] last = {};
        for (int done = 0, count = 1; done < bytes; done += Sha256.BYTES, count++) {
            last = HmacSha256.of(key, last, info, new byte[]{(byte) count});
            System.arraycopy(last, 0, result, done, Math.min(Sha256.BYTES, bytes - done));
        }
        return result;
    }
}
