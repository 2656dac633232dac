package org.udckpt.image.write;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.udckpt.image.Range;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.block.Hashes;

/** Compares memory that is said to be unchanged with what the older checkpoint has of it. */
final class UnchangedCheck {
    private static final int AT_ONCE = 256;

    private UnchangedCheck() {}

    /**
     * @param rows of the older checkpoint
     * @throws IOException naming the first page that has changed
     */
    static void require(List<HashedChunk> rows, PageSource source) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pages = arena.allocate((long) AT_ONCE * Range.PAGE, Range.PAGE);
            MemorySegment zeros = arena.allocate((long) AT_ONCE * Range.PAGE, Range.PAGE);
            Hashes hashes = Hashes.best();
            long[] now = new long[2 * AT_ONCE];
            for (HashedChunk row : rows) {
                Chunk chunk = row.chunk();
                for (long at = 0; at < chunk.length(); at += pages.byteSize()) {
                    MemorySegment some = pages.asSlice(0, Math.min(pages.byteSize(), chunk.length() - at));
                    source.read(chunk.address() + at, some);
                    int count = (int) (some.byteSize() / Range.PAGE);
                    if (row.hashes() == null) {
                        long different = some.mismatch(zeros.asSlice(0, some.byteSize()));
                        requireSame(different < 0 ? -1 : (int) (different / Range.PAGE), chunk, at);
                    } else {
                        hashes.xxh3Pages(some, count, now);
                        int from = row.first() + (int) (at / Range.PAGE);
                        requireSame(different(row.hashes(), from, now, count), chunk, at);
                    }
                }
            }
        }
    }

    /** The first page that differs; -1: none. */
    private static int different(long[] then, int from, long[] now, int count) {
        int at = java.util.Arrays.mismatch(then, 2 * from, 2 * (from + count), now, 0, 2 * count);
        return at < 0 ? -1 : at / 2;
    }

    private static void requireSame(int page, Chunk chunk, long at) throws IOException {
        if (page >= 0) {
            throw new IOException(
                    "memory at 0x%x of process %d has changed since checkpoint %d, and the kernel did not "
                            .formatted(chunk.address() + at + (long) page * Range.PAGE, chunk.process(),
                                    chunk.checkpoint())
                            + "say so; take checkpoints with write-tracking false, and report this");
        }
    }
}
