package org.udckpt.image.write;

import org.udckpt.image.block.Chunk;

/**
 * A chunk, and what its pages hash to.
 *
 * @param hashes two numbers a page ({@link PageHashes}); null for zeros, and where nobody asks
 */
record HashedChunk(Chunk chunk, long[] hashes) {
    /** Both as one; {@link Chunk#goesOnWith} must hold. */
    HashedChunk with(HashedChunk next) {
        if (hashes == null) {
            return new HashedChunk(chunk.with(next.chunk), null);
        }
        long[] all = java.util.Arrays.copyOf(hashes, hashes.length + next.hashes.length);
        System.arraycopy(next.hashes, 0, all, hashes.length, next.hashes.length);
        return new HashedChunk(chunk.with(next.chunk), all);
    }
}
