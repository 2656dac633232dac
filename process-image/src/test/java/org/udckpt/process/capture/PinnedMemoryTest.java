package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.udckpt.process.model.AddressRanges;

/** What a process's list of the regions that its devices may write to comes to, whatever the process has put there. */
class PinnedMemoryTest {
    private static final long LAST = Long.MAX_VALUE & -4096;

    private static long[] pages(long... table) {
        ByteBuffer bytes = ByteBuffer.allocate(table.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asLongBuffer().put(table);
        return PinnedMemory.pages(bytes);
    }

    @Test
    void wholePagesInOrder() {
        assertArrayEquals(new long[]{0x1000, 0x4000, 0x7000, 0x8000},
                pages(0x7001, 0x7002, 0, 0, 0x1fff, 0x2001, 0x3000, 0x4000, 0x2800, 0x3800));
    }

    @Test
    void allMemory() {
        assertArrayEquals(new long[]{0x1000, LAST}, pages(0x1000, -1));
        assertArrayEquals(new long[]{0x1000, LAST}, pages(0x1000, Long.MAX_VALUE));
        assertArrayEquals(new long[]{0x1000, LAST}, pages(0x1000, LAST + 1));
    }

    @Test
    void whatIsNoRange() {
        assertArrayEquals(new long[0], pages(0x5000, 0x4000, -0x5000, -0x4000, 0, 0, LAST, -1));
    }

    @Test
    void anything() {
        long seed = Long.getLong("udckpt.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int round = 0; round < 2000; round++) {
            long[] table = random.longs(2L * random.nextInt(20)).map(word -> word >> random.nextInt(64)).toArray();
            long[] pages = pages(table);
            for (int i = 1; i < pages.length; i++) {
                assertTrue(pages[i] > pages[i - 1] && (pages[i] & 4095) == 0, "seed " + seed + ", round " + round);
            }
            AddressRanges.both(pages, new long[]{0x1000, 0x7fff_ffff_f000L});
        }
    }
}
