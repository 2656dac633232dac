package org.udckpt.image;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.security.MessageDigest;

/** Computes the checksums of a block. For one thread. */
final class Checksum {
    static final int DIGEST_BYTES = 32;
    private static final Hasher64 XXH3 = Hashing.xxh3_64();
    private final MessageDigest sha256;

    Checksum(Manifest.Integrity integrity) {
        this.sha256 = switch (integrity) {
            case XXH3 -> null;
            case SHA256 -> ImageKey.newSha256();
        };
    }

    /** XXH3-64, seed 0. */
    long compute(byte[] bytes, int length) {
        return XXH3.hashBytesToLong(bytes, 0, length);
    }

    /** SHA-256, where the integrity asks for it; else null. */
    byte[] digest(byte[] bytes, int length) {
        if (sha256 == null) {
            return null;
        }
        sha256.update(bytes, 0, length);
        return sha256.digest();
    }
}
