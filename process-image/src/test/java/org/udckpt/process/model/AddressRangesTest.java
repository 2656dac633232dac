package org.udckpt.process.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AddressRangesTest {
    private static final int END = 64;

    @Test
    void whatIsLeftOutIsNotThere() {
        assertArrayEquals(new long[]{0, 2, 4, 10, 20, 25},
                AddressRanges.without(new long[]{0, 10, 20, 30}, new long[]{2, 4, 12, 14, 25, 40}));
        assertArrayEquals(new long[0], AddressRanges.without(new long[]{5, 6}, new long[]{0, 10}));
        assertArrayEquals(new long[]{5, 6}, AddressRanges.without(new long[]{5, 6}, new long[0]));
    }

    @Test
    void whatDoesNotAscendIsRefused() {
        long[] falling = {10, 20, 0, 10};
        long[] rising = {0, 10, 12, 20};
        assertThrows(IllegalArgumentException.class, () -> AddressRanges.both(rising, falling));
        assertThrows(IllegalArgumentException.class, () -> AddressRanges.without(falling, rising));
        assertArrayEquals(new long[]{0, 10, 10, 20},
                AddressRanges.of(List.of(10L, 0L), start -> start, start -> start + 10));
    }

    @Test
    void agreesWithBits() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 2000; round++) {
            long[] a = ranges(random);
            long[] b = ranges(random);
            BitSet without = bits(a);
            without.andNot(bits(b));
            BitSet both = bits(a);
            both.and(bits(b));
            String what = Arrays.toString(a) + " and " + Arrays.toString(b) + ", seed " + seed;
            assertEquals(without, bits(AddressRanges.without(a, b)), what);
            assertEquals(both, bits(AddressRanges.both(a, b)), what);
            assertEquals(bits(a).cardinality(), AddressRanges.bytes(a), what);
        }
    }

    @Test
    void overlapsAgreeWithBits() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 1000; round++) {
            List<long[]> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                all.add(ranges(random));
            }
            String[] found = new String[END];
            Overlaps.of(all, (start, end, members) -> {
                for (long at = start; at < end; at++) {
                    assertEquals(null, found[(int) at], "told of twice, seed " + seed);
                    found[(int) at] = Arrays.toString(members);
                }
            });
            for (int at = 0; at < END; at++) {
                int address = at;
                int[] members =
                        java.util.stream.IntStream.range(0, 4).filter(i -> bits(all.get(i)).get(address)).toArray();
                assertEquals(members.length > 1 ? Arrays.toString(members) : null, found[at],
                        "address " + at + ", seed " + seed);
            }
        }
    }

    private static long[] ranges(Random random) {
        long[] edges = random.longs(2 * random.nextInt(6), 0, END).distinct().sorted().toArray();
        return Arrays.copyOf(edges, edges.length / 2 * 2);
    }

    private static BitSet bits(long[] ranges) {
        BitSet bits = new BitSet();
        for (int i = 0; i < ranges.length; i += 2) {
            bits.set((int) ranges[i], (int) ranges[i + 1]);
        }
        return bits;
    }
}
