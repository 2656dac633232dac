package org.udckpt.inspect.diff;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.process.model.MemorySource;

/** Compares stored memory by contents, page by page at equal offsets. For one thread. */
final class MemoryComparison implements AutoCloseable {
    private static final int BUFFER = 1 << 20;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment left = arena.allocate(BUFFER, PageCounts.BYTES);
    private final MemorySegment right = arena.allocate(BUFFER, PageCounts.BYTES);
    private final CheckpointReader.Progress progress;
    private final long total;
    private long done;

    /** Hears of ranges [start, end), ascending; neighbours may be of one kind. */
    interface Listener {
        void range(long start, long end, Fate fate);
    }

    /** What became of a page. */
    enum Fate {
        SAME, CHANGED, ADDED, REMOVED
    }

    /** @param total bytes of all memory that is going to be compared, of both checkpoints */
    MemoryComparison(CheckpointReader.Progress progress, long total) {
        this.progress = progress;
        this.total = total;
    }

    void compare(MemorySource older, MemorySource newer, Listener listener) {
        Queue a = new Queue(older.extents());
        Queue b = new Queue(newer.extents());
        while (a.more() || b.more()) {
            long start = Math.min(a.start(), b.start());
            long end = Math.min(a.borderAfter(start), b.borderAfter(start));
            boolean inOlder = a.takeIf(start, end);
            boolean inNewer = b.takeIf(start, end);
            if (inOlder && inNewer) {
                contents(older, newer, start, end, listener);
            } else {
                listener.range(start, end, inOlder ? Fate.REMOVED : Fate.ADDED);
                advance(end - start);
            }
        }
    }

    private void contents(MemorySource older, MemorySource newer, long start, long end, Listener listener) {
        for (long at = start; at < end; at += BUFFER) {
            long length = Math.min(BUFFER, end - at);
            MemorySegment one = left.asSlice(0, length);
            MemorySegment other = right.asSlice(0, length);
            older.read(at, one);
            newer.read(at, other);
            pages(at, one, other, listener);
            advance(2 * length);
        }
    }

    private static void pages(long address, MemorySegment one, MemorySegment other, Listener listener) {
        long length = one.byteSize();
        long same = 0; // all before this offset has been told
        while (same < length) {
            long difference = one.asSlice(same).mismatch(other.asSlice(same));
            long page = difference < 0 ? length : (same + difference) / PageCounts.BYTES * PageCounts.BYTES;
            if (page > same) {
                listener.range(address + same, address + page, Fate.SAME);
            }
            if (page < length) {
                listener.range(address + page, address + page + PageCounts.BYTES, Fate.CHANGED);
            }
            same = page + PageCounts.BYTES;
        }
    }

    private void advance(long bytes) {
        done += bytes;
        progress.read(done, total);
    }

    @Override
    public void close() {
        arena.close();
    }

    /** {start, end} pairs that are eaten from the front. */
    private static final class Queue {
        private final long[] pairs;
        private int next;

        Queue(long[] pairs) {
            this.pairs = pairs;
        }

        boolean more() {
            return next < pairs.length;
        }

        long start() {
            return more() ? pairs[next] : Long.MAX_VALUE;
        }

        /** Where what holds at {@code address}, which is not after the next start, ends. */
        long borderAfter(long address) {
            return start() == address && more() ? pairs[next + 1] : start();
        }

        /** Takes [start, end) away if it is next. */
        boolean takeIf(long start, long end) {
            if (start() != start || !more()) {
                return false;
            }
            pairs[next] = end;
            if (end == pairs[next + 1]) {
                next += 2;
            }
            return true;
        }
    }
}
