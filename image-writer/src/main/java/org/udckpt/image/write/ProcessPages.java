package org.udckpt.image.write;

import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.udckpt.image.Range;
import org.udckpt.image.block.Chunk;

/** What the checkpoint before has of one process, by page. Thread-safe, immutable. */
final class ProcessPages {
    private final HashedChunk[] chunks;

    /** @param chunks all, by address */
    ProcessPages(List<HashedChunk> chunks) {
        this.chunks = chunks.toArray(HashedChunk[]::new);
    }

    /** The number of the chunk that has the same page at this address; -1 when there is none. */
    int find(long address, long high, long low) {
        int from = 0;
        int to = chunks.length - 1;
        while (from <= to) {
            int middle = from + to >>> 1;
            Chunk chunk = chunks[middle].chunk();
            if (address < chunk.address()) {
                to = middle - 1;
            } else if (address >= chunk.end()) {
                from = middle + 1;
            } else {
                int page = (int) ((address - chunk.address()) / Range.PAGE);
                return chunks[middle].has(page, high, low) ? middle : -1;
            }
        }
        return -1;
    }

    /**
     * Rows for memory that is as it was then.
     *
     * @param process its number now
     * @param unchanged by address
     * @param rows receives them; what is not known of it has none
     */
    void carry(int process, List<Range> unchanged, List<HashedChunk> rows) {
        int next = 0;
        for (Range range : unchanged) {
            while (next < chunks.length && chunks[next].chunk().end() <= range.address()) {
                next++;
            }
            for (int i = next; i < chunks.length && chunks[i].chunk().address() < range.end(); i++) {
                Chunk chunk = chunks[i].chunk();
                rows.add(chunks[i].part(process, Math.max(range.address(), chunk.address()),
                        Math.min(range.end(), chunk.end())));
            }
        }
    }

    /** {start, end} pairs of what is in blocks of other checkpoints; zeros are in none. */
    long[] notIn(long checkpoint) {
        return Arrays.stream(chunks).map(HashedChunk::chunk)
                .filter(chunk -> chunk.kind() == Chunk.Kind.DATA && chunk.checkpoint() != checkpoint)
                .flatMapToLong(chunk -> LongStream.of(chunk.address(), chunk.end())).toArray();
    }

    Chunk chunk(int number) {
        return chunks[number].chunk();
    }

    /** Where the page of {@code address} is in the block of chunk {@code number}. */
    int within(int number, long address) {
        Chunk chunk = chunks[number].chunk();
        return chunk.within() + (int) (address - chunk.address());
    }
}
