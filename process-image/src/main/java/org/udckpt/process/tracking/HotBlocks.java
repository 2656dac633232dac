package org.udckpt.process.tracking;

import org.udckpt.process.model.AddressRanges;

/**
 * Huge pages that a process writes to. The first write to a huge page that is protected splits its mapping, which slows
 * the process and its next stop. So huge pages that are written to again and again are not protected: they count as
 * written at each checkpoint, and are read. One that has been read and was as before is protected again, until it is
 * written to.
 */
final class HotBlocks {
    /** Of a huge page. */
    private static final long BLOCK = 2 << 20;

    private PageRanges hot = new PageRanges();
    /** All huge pages at the last stop. */
    private PageRanges huge = new PageRanges();

    /** {start, end} pairs of what must not be protected. */
    long[] pairs() {
        return hot.pairs();
    }

    /** What is not in these mappings is forgotten. */
    void keepIn(long[] mappings) {
        hot = PageRanges.of(AddressRanges.both(mappings, hot.pairs()));
    }

    /**
     * Those that the process had at its last stop: what has become one since, or was one and has been split, is hot.
     *
     * @param now {start, end} pairs
     * @return of them, those that were not hot before
     */
    long[] seen(long[] now) {
        long[] before = huge.pairs();
        long[] changed = PageRanges.of(AddressRanges.without(now, before))
                .with(PageRanges.of(AddressRanges.without(before, now))).pairs();
        long[] fresh = AddressRanges.without(changed, hot.pairs());
        hot = hot.with(PageRanges.of(fresh));
        huge = PageRanges.of(now);
        return fresh;
    }

    /** This memory is about to become huge pages. */
    void add(long start, long end) {
        hot = hot.with(PageRanges.of(new long[]{start, end}));
    }

    /** Memory that was read and is as before: what is all in it is not hot any more. */
    void unchanged(long[] ranges) {
        long[] same = PageRanges.of(ranges).pairs();
        long[] pairs = hot.pairs();
        PageRanges left = new PageRanges();
        int next = 0;
        for (int i = 0; i < pairs.length; i += 2) {
            for (long at = pairs[i]; at < pairs[i + 1];) {
                long end = Math.min(pairs[i + 1], (at & -BLOCK) + BLOCK);
                while (next < same.length && same[next + 1] < end) {
                    next += 2;
                }
                if (next == same.length || same[next] > at) {
                    left.add(at, end);
                }
                at = end;
            }
        }
        hot = left;
    }
}
