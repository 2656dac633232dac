package org.udckpt.image.write;

import java.util.List;
import org.udckpt.image.Range;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Codec;

/**
 * The row of the table {@code page-counts}: what became of a node's pages of memory (4096 bytes each).
 *
 * @param unread     an older checkpoint has them, and nobody has written to them since ({@link Unchanged})
 * @param zero       read, and all zeros
 * @param same       read, and an older checkpoint has the same
 * @param raw        read, and stored as they are
 * @param compressed read, and stored in compressed blocks
 */
public record WrittenPages(long unread, long zero, long same, long raw, long compressed) {
    static WrittenPages of(List<MemoryResult> processes, List<Block> blocks) {
        return new WrittenPages(pages(processes.stream().mapToLong(MemoryResult::unreadBytes).sum()),
                pages(processes.stream().mapToLong(MemoryResult::zeroBytes).sum()),
                pages(processes.stream().mapToLong(MemoryResult::sameBytes).sum()),
                pages(blocks.stream().filter(block -> block.codec() == Codec.RAW).mapToLong(Block::length).sum()),
                pages(blocks.stream().filter(block -> block.codec() != Codec.RAW).mapToLong(Block::length).sum()));
    }

    private static long pages(long bytes) {
        return bytes / Range.PAGE;
    }

    /** Both together. */
    public WrittenPages with(WrittenPages other) {
        return new WrittenPages(unread + other.unread, zero + other.zero, same + other.same, raw + other.raw,
                compressed + other.compressed);
    }
}
