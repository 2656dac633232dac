package org.udckpt.image;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.DigestException;
import java.security.MessageDigest;

/**
 * Computes the checksums of a chunk. For one thread: it has a scratch array, because XXH3 and SHA-256 are several
 * times faster on a Java array than on native memory.
 */
final class Checksum {
    static final int DIGEST_BYTES = 32;
    private static final Hasher64 XXH3 = Hashing.xxh3_64();
    private final byte[] scratch = new byte[Chunk.MAX_LENGTH];
    private final MessageDigest sha256;

    Checksum(Manifest.Integrity integrity) {
        this.sha256 = switch (integrity) {
            case XXH3 -> null;
            case SHA256 -> ImageKey.newSha256();
        };
    }

    /**
     * @param length at most {@link Chunk#MAX_LENGTH}
     * @param digest receives 32 bytes at {@code at} where the integrity asks for them
     * @return XXH3-64, seed 0
     */
    long compute(MemorySegment bytes, long offset, int length, byte[] digest, int at) {
        MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, offset, scratch, 0, length);
        if (sha256 != null) {
            sha256.update(scratch, 0, length);
            try {
                sha256.digest(digest, at, DIGEST_BYTES);
            } catch (DigestException e) {
                throw new AssertionError(e);
            }
        }
        return XXH3.hashBytesToLong(scratch, 0, length);
    }
}
