package org.udckpt.image.write;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.image.Range;

/**
 * What of a process's memory a checkpoint has by naming an older one's blocks, without reading it.
 *
 * @param rows by address
 * @param rest what has to be read, by address
 */
record CarriedMemory(List<HashedChunk> rows, List<Range> rest) {
    /**
     * @param process its number now
     * @param ranges its memory, by address
     * @param previous what the older checkpoint has; null: nothing
     */
    static CarriedMemory of(int process, List<Range> ranges, Unchanged unchanged, PageHistory previous) {
        ProcessPages pages = previous == null || previous.checkpoint() != unchanged.checkpoint() ? null
                : previous.pages(unchanged.process());
        List<HashedChunk> rows = new ArrayList<>();
        if (pages != null) {
            pages.carry(process, both(ranges, unchanged.ranges()), rows);
        }
        return new CarriedMemory(rows, rows.isEmpty() ? ranges : without(ranges, rows));
    }

    long bytes() {
        return rows.stream().mapToLong(row -> row.chunk().length()).sum();
    }

    private static List<Range> both(List<Range> a, List<Range> b) {
        List<Range> both = new ArrayList<>();
        for (int i = 0, j = 0; i < a.size() && j < b.size();) {
            long start = Math.max(a.get(i).address(), b.get(j).address());
            long end = Math.min(a.get(i).end(), b.get(j).end());
            if (start < end) {
                both.add(new Range(start, end - start));
            }
            if (a.get(i).end() < b.get(j).end()) {
                i++;
            } else {
                j++;
            }
        }
        return both;
    }

    private static List<Range> without(List<Range> ranges, List<HashedChunk> rows) {
        List<Range> rest = new ArrayList<>();
        int next = 0;
        for (Range range : ranges) {
            long at = range.address();
            for (; next < rows.size() && rows.get(next).chunk().address() < range.end(); next++) {
                add(rest, at, rows.get(next).chunk().address());
                at = rows.get(next).chunk().end();
            }
            add(rest, at, range.end());
        }
        return rest;
    }

    private static void add(List<Range> rest, long start, long end) {
        if (start < end) {
            rest.add(new Range(start, end - start));
        }
    }
}
