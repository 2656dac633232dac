package org.udckpt.image.write;

import java.util.Arrays;
import org.udckpt.image.Range;
import org.udckpt.image.block.Chunk;

/**
 * A chunk, and what its pages hash to.
 *
 * @param hashes two numbers a page ({@link PageHashes}), also of pages that are not the chunk's; null for zeros, and
 *               where nobody asks
 * @param first  of these pages, the one with which the chunk begins
 */
record HashedChunk(Chunk chunk, long[] hashes, int first) {
    /** A part of fewer pages than that share of the others' has hashes of its own: the others can be forgotten. */
    private static final int SMALL = 4;

    /** @param hashes of its pages alone */
    HashedChunk(Chunk chunk, long[] hashes) {
        this(chunk, hashes, 0);
    }

    /** Whether a page, by its number in the chunk, hashes to that. */
    boolean has(int page, long high, long low) {
        return hashes != null && hashes[2 * (first + page)] == high && hashes[2 * (first + page) + 1] == low;
    }

    /** What of it is in [start, end), as memory of a process. */
    HashedChunk part(int process, long start, long end) {
        if (chunk.kind() == Chunk.Kind.ZERO) {
            return new HashedChunk(Chunk.zero(process, start, end - start), null);
        }
        int skipped = (int) (start - chunk.address());
        int from = first + skipped / Range.PAGE;
        int pages = pages(end - start);
        Chunk some = new Chunk(process, start, end - start, chunk.checkpoint(), chunk.block(),
                chunk.within() + skipped, chunk.kind());
        return hashes == null || hashes.length / 2 <= SMALL * pages ? new HashedChunk(some, hashes, from)
                : new HashedChunk(some, Arrays.copyOfRange(hashes, 2 * from, 2 * (from + pages)));
    }

    /** Both as one; {@link Chunk#goesOnWith} must hold. */
    HashedChunk with(HashedChunk next) {
        int pages = pages(chunk.length());
        if (hashes == next.hashes && (hashes == null || first + pages == next.first)) {
            return new HashedChunk(chunk.with(next.chunk), hashes, first);
        }
        int more = pages(next.chunk.length());
        long[] all = Arrays.copyOfRange(hashes, 2 * first, 2 * (first + pages + more));
        System.arraycopy(next.hashes, 2 * next.first, all, 2 * pages, 2 * more);
        return new HashedChunk(chunk.with(next.chunk), all);
    }

    private static int pages(long bytes) {
        return (int) (bytes / Range.PAGE);
    }
}
