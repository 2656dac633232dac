package org.udckpt.process.tracking;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import org.junit.jupiter.api.Test;

/** Which huge pages are left unprotected. */
class HotBlocksTest {
    private static final long M = 2 << 20;

    private final HotBlocks blocks = new HotBlocks();

    @Test
    void whatIsNewIsHotUntilItIsReadAndTheSame() {
        assertArrayEquals(new long[]{M, 3 * M, 8 * M, 9 * M}, blocks.seen(new long[]{M, 3 * M, 8 * M, 9 * M}));
        assertArrayEquals(new long[0], blocks.seen(new long[]{M, 3 * M, 8 * M, 9 * M}));
        blocks.unchanged(new long[]{M - 4096, M + 8192, M + 8192, 2 * M, 2 * M + 4096, 3 * M});
        assertArrayEquals(new long[]{2 * M, 3 * M, 8 * M, 9 * M}, blocks.pairs());
        assertArrayEquals(new long[0], blocks.seen(new long[]{M, 3 * M, 8 * M, 9 * M}));
    }

    @Test
    void whatHasBeenSplitOrIsJoinedIsHot() {
        blocks.seen(new long[]{M, 4 * M});
        blocks.unchanged(new long[]{0, 9 * M});
        assertArrayEquals(new long[0], blocks.pairs());
        assertArrayEquals(new long[]{2 * M, 3 * M}, blocks.seen(new long[]{M, 2 * M, 3 * M, 4 * M}));
        blocks.add(2 * M, 3 * M);
        blocks.add(6 * M, 7 * M);
        assertArrayEquals(new long[]{2 * M, 3 * M, 6 * M, 7 * M}, blocks.pairs());
    }

    @Test
    void whatIsNotMappedIsForgotten() {
        blocks.seen(new long[]{M, 4 * M});
        blocks.keepIn(new long[]{0, 2 * M, 3 * M + 4096, 9 * M});
        assertArrayEquals(new long[]{M, 2 * M, 3 * M + 4096, 4 * M}, blocks.pairs());
        blocks.unchanged(new long[]{3 * M + 4096, 4 * M});
        assertArrayEquals(new long[]{M, 2 * M}, blocks.pairs());
    }
}
