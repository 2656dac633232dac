package org.udckpt.image.block;

import java.lang.foreign.MemorySegment;
import org.udckpt.image.Manifest;

/** What tells whether a block's stored bytes are those that were written. For one thread. */
public final class Checksum {
    public static final int DIGEST_BYTES = 32;
    private final Hashes hashes = Hashes.best();
    private final Manifest.Integrity integrity;

    public Checksum(Manifest.Integrity integrity) {
        this.integrity = integrity;
    }

    /** XXH3-64, seed 0. */
    public long compute(MemorySegment bytes, int length) {
        return hashes.xxh3(bytes, length);
    }

    /** SHA-256, where the integrity asks for it; else null. */
    public byte[] digest(MemorySegment bytes, int length) {
        return switch (integrity) {
            case XXH3, GMAC -> null;
            case SHA256 -> hashes.sha256(bytes, length);
        };
    }

    public Hashes hashes() {
        return hashes;
    }
}
