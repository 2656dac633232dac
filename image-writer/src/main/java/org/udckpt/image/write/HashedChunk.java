package org.udckpt.image.write;

import org.udckpt.image.Range;
import org.udckpt.image.block.Chunk;

/**
 * A chunk, and what its pages hash to.
 *
 * @param hashes two numbers a page ({@link PageHashes}); null for zeros, and where nobody asks
 */
record HashedChunk(Chunk chunk, long[] hashes) {
    /** What of it is in [start, end), as memory of a process. */
    HashedChunk part(int process, long start, long end) {
        if (chunk.kind() == Chunk.Kind.ZERO) {
            return new HashedChunk(Chunk.zero(process, start, end - start), null);
        }
        boolean whole = start == chunk.address() && end == chunk.end();
        int skipped = (int) (start - chunk.address());
        int page = skipped / Range.PAGE;
        long[] some = hashes == null || whole ? hashes
                : java.util.Arrays.copyOfRange(hashes, 2 * page, 2 * (page + (int) ((end - start) / Range.PAGE)));
        return new HashedChunk(new Chunk(process, start, end - start, chunk.checkpoint(), chunk.block(),
                chunk.within() + skipped, chunk.kind()), some);
    }

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
