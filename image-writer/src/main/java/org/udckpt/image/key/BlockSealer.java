package org.udckpt.image.key;

import java.lang.foreign.MemorySegment;

/** Seals blocks under a checkpoint's key, by encryption or by tags alone. For one thread. */
public sealed interface BlockSealer permits ImageCipher.Worker, BlockTags.Worker {
    /**
     * Seals the first {@code length} bytes, in place where they are encrypted. Returns 12 bytes of nonce and 16 of tag.
     */
    byte[] seal(MemorySegment bytes, int length);

    /** Whether the bytes stay as they are, so that no checksum of them is needed beside. */
    boolean tagsOnly();

    /** Undoes that; false when they are not what was sealed, and they must not be used then. */
    boolean open(MemorySegment bytes, int length, byte[] seal);
}
