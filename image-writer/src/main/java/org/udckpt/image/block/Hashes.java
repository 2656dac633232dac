package org.udckpt.image.block;

import java.lang.foreign.MemorySegment;

/**
 * The hash functions of images, on native memory. Whichever of the two kinds is there, the values are the same. For one
 * thread.
 */
public sealed interface Hashes permits NativeHashes, JavaHashes {
    /** By the C libraries where they are there: several times as fast, from the first call on, and without a copy. */
    static Hashes best() {
        return NativeHashes.THERE ? new NativeHashes() : new JavaHashes();
    }

    /** XXH3-64, seed 0, of the first {@code length} bytes. */
    long xxh3(MemorySegment bytes, int length);

    /**
     * XXH3-128, seed 0, of each page of 4096.
     *
     * @param values receives two numbers a page: the high one, the low one
     */
    void xxh3Pages(MemorySegment bytes, int pages, long[] values);

    /** SHA-256 of the first {@code length} bytes. */
    byte[] sha256(MemorySegment bytes, int length);
}
