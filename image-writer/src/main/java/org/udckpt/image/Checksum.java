package org.udckpt.image;

import java.lang.foreign.MemorySegment;

/** What tells whether a block's stored bytes are those that were written. For one thread. */
final class Checksum {
    static final int DIGEST_BYTES = 32;
    private final Hashes hashes = Hashes.best();
    private final Manifest.Integrity integrity;

    Checksum(Manifest.Integrity integrity) {
        this.integrity = integrity;
    }

    /** XXH3-64, seed 0. */
    long compute(MemorySegment bytes, int length) {
        return hashes.xxh3(bytes, length);
    }

    /** SHA-256, where the integrity asks for it; else null. */
    byte[] digest(MemorySegment bytes, int length) {
        return switch (integrity) {
            case XXH3 -> null;
            case SHA256 -> hashes.sha256(bytes, length);
        };
    }

    Hashes hashes() {
        return hashes;
    }
}
