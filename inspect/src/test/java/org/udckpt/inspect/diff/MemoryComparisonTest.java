package org.udckpt.inspect.diff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.process.model.MemorySource;

/** Random memories against a comparison page by page that cannot be wrong. */
@Timeout(60)
class MemoryComparisonTest {
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);
    private static final int PAGES = 700; // more than a buffer of the comparison
    private static final long BASE = 0x7f0000000000L;

    /** Pages by number, each filled with one byte at a random place. */
    private record Memory(TreeMap<Integer, byte[]> pages) implements MemorySource {
        @Override
        public long id() {
            return 1;
        }

        @Override
        public boolean process() {
            return true;
        }

        @Override
        public long[] extents() {
            return pages.keySet().stream().filter(page -> !pages.containsKey(page - 1)).flatMap(first -> {
                int end = first;
                while (pages.containsKey(end)) {
                    end++;
                }
                return java.util.stream.Stream.of(BASE + (long) first * PageCounts.BYTES,
                        BASE + (long) end * PageCounts.BYTES);
            }).mapToLong(Long::longValue).toArray();
        }

        @Override
        public void read(long offset, MemorySegment target) {
            for (long at = 0; at < target.byteSize(); at += PageCounts.BYTES) {
                MemorySegment.copy(MemorySegment.ofArray(pages.get((int) ((offset + at - BASE) / PageCounts.BYTES))), 0,
                        target, at, PageCounts.BYTES);
            }
        }
    }

    @Test
    void eachPageHasItsFate() {
        System.out.println("memory comparison: -Dudckpt.seed=" + SEED);
        Random random = new Random(SEED);
        for (int round = 0; round < 50; round++) {
            int density = random.nextInt(1, 10);
            Memory older = memory(random, density);
            Memory newer = memory(random, random.nextInt(1, 10));
            TreeMap<Long, MemoryComparison.Fate> found = new TreeMap<>();
            long[] told = {0, 0};
            long total = (long) (older.pages.size() + newer.pages.size()) * PageCounts.BYTES;
            try (MemoryComparison comparison = new MemoryComparison((done, all) -> {
                assertTrue(done > told[0]);
                told[0] = done;
                told[1] = all;
            }, total)) {
                comparison.compare(older, newer, (start, end, fate) -> {
                    for (long at = start; at < end; at += PageCounts.BYTES) {
                        assertEquals(null, found.put(at, fate), "told once");
                    }
                });
            }
            assertEquals(expected(older, newer), found);
            assertEquals(total, told[0], "all that is stored was told");
        }
    }

    private static Memory memory(Random random, int density) {
        TreeMap<Integer, byte[]> pages = new TreeMap<>();
        boolean there = random.nextBoolean();
        for (int page = 0; page < PAGES; page++) {
            there = random.nextInt(40) == 0 ? !there : there;
            if (there) {
                byte[] bytes = new byte[PageCounts.BYTES];
                bytes[random.nextInt(4) * 1365] = (byte) (random.nextInt(10) < density ? 0 : 1 + random.nextInt(2));
                pages.put(page, bytes);
            }
        }
        return new Memory(pages);
    }

    private static Map<Long, MemoryComparison.Fate> expected(Memory older, Memory newer) {
        Map<Long, MemoryComparison.Fate> fates = new TreeMap<>();
        for (int page = 0; page < PAGES; page++) {
            byte[] one = older.pages.get(page);
            byte[] other = newer.pages.get(page);
            if (one != null || other != null) {
                fates.put(BASE + (long) page * PageCounts.BYTES,
                        one == null ? MemoryComparison.Fate.ADDED : other == null ? MemoryComparison.Fate.REMOVED
                                : java.util.Arrays.equals(one, other) ? MemoryComparison.Fate.SAME
                                        : MemoryComparison.Fate.CHANGED);
            }
        }
        return fates;
    }
}
