package org.udckpt.image.write;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntPredicate;
import org.udckpt.image.Range;
import org.udckpt.image.block.Chunk;

/**
 * The pages of a {@link Slot} as runs of one kind: zeros, bytes that an older checkpoint has, bytes that are to be
 * stored. Filled anew for each slot; for one thread at a time.
 */
final class PageRuns {
    /** What becomes of a run. */
    enum Kind {
        ZERO, SAME, STORED
    }

    /** A hole of fewer zero pages than this inside data is stored: it would cost more in rows than it saves. */
    private static final int SMALLEST_HOLE = 4;
    private static final MemorySegment ZEROS = Arena.global().allocate(Range.PAGE, Range.PAGE);

    private int count;
    private final int[] first = new int[Slot.PAGES];
    private final int[] pages = new int[Slot.PAGES];
    private final Kind[] kinds = new Kind[Slot.PAGES];
    /** The chunk with the first page of each SAME run. */
    private final Chunk[] chunks = new Chunk[Slot.PAGES];
    private final int[] withins = new int[Slot.PAGES];

    /** Finds the runs of {@code length} pages at {@code addresses}; {@code hashes} is null where none are wanted. */
    void find(MemorySegment buffer, long[] addresses, int length, PageHashes hashes, ProcessPages previous) {
        find(page -> MemorySegment.mismatch(buffer, (long) page * Range.PAGE, (long) (page + 1) * Range.PAGE, ZEROS, 0,
                Range.PAGE) < 0,
                addresses, length, hashes, previous);
    }

    /** The same where it is known which pages are zeros. */
    void find(IntPredicate zeros, long[] addresses, int length, PageHashes hashes, ProcessPages previous) {
        count = 0;
        for (int page = 0; page < length; page++) {
            boolean adjacent = page > 0 && addresses[page] == addresses[page - 1] + Range.PAGE;
            boolean zero = zeros.test(page);
            int at = zero || previous == null ? -1
                    : previous.find(addresses[page], hashes.high(page), hashes.low(page));
            if (at >= 0) {
                addSame(page, adjacent, previous.chunk(at), previous.within(at, addresses[page]));
            } else if (adjacent && kinds[count - 1] == (zero ? Kind.ZERO : Kind.STORED)) {
                pages[count - 1]++;
            } else if (adjacent && !zero && isSmallHole(addresses)) {
                pages[count - 2] += pages[count - 1] + 1;
                count--;
            } else {
                begin(page, zero ? Kind.ZERO : Kind.STORED);
            }
        }
    }

    private void begin(int page, Kind kind) {
        first[count] = page;
        pages[count] = 1;
        kinds[count] = kind;
        count++;
    }

    private void addSame(int page, boolean adjacent, Chunk chunk, int within) {
        int last = count - 1;
        if (adjacent && kinds[last] == Kind.SAME && chunks[last].checkpoint() == chunk.checkpoint()
                && chunks[last].block() == chunk.block()
                && withins[last] + pages[last] * Range.PAGE == within) {
            pages[last]++;
            return;
        }
        chunks[count] = chunk;
        withins[count] = within;
        begin(page, Kind.SAME);
    }

    /** Whether the last run is a few zero pages that directly follow stored ones. */
    private boolean isSmallHole(long[] addresses) {
        int run = count - 1;
        return run > 0 && kinds[run] == Kind.ZERO && kinds[run - 1] == Kind.STORED && pages[run] < SMALLEST_HOLE
                && addresses[first[run]] == addresses[first[run] - 1] + Range.PAGE;
    }

    void clear() {
        count = 0;
    }

    int count() {
        return count;
    }

    /** The first page of a run, as a number in the slot. */
    int first(int run) {
        return first[run];
    }

    /** Pages in a run. */
    int pages(int run) {
        return pages[run];
    }

    Kind kind(int run) {
        return kinds[run];
    }

    /**
     * Adds a row for each run.
     *
     * @param block  number of the one that holds all STORED runs, one after the other
     * @param hashes of the pages; null where nobody asks
     */
    void describe(int process, long[] addresses, int block, PageHashes hashes, StripeLog log) {
        int within = 0;
        for (int run = 0; run < count; run++) {
            Chunk chunk = chunk(run, process, addresses[first[run]], log.checkpoint(), within);
            boolean stored = kinds[run] == Kind.STORED;
            boolean hashed = hashes != null && kinds[run] != Kind.ZERO;
            log.add(new HashedChunk(stored ? chunk.inBlock(block) : chunk,
                    hashed ? hashes.copy(first[run], pages[run]) : null));
            within += stored ? (int) chunk.length() : 0;
        }
    }

    /** Bytes of memory in runs of a kind. */
    long bytes(Kind kind) {
        long bytes = 0;
        for (int run = 0; run < count; run++) {
            bytes += kinds[run] == kind ? (long) pages[run] * Range.PAGE : 0;
        }
        return bytes;
    }

    /** The row of a run; {@code within} is for STORED ones, the block's number is not yet known. */
    private Chunk chunk(int run, int process, long address, long checkpoint, int within) {
        long length = (long) pages[run] * Range.PAGE;
        return switch (kinds[run]) {
            case ZERO -> Chunk.zero(process, address, length);
            case SAME -> new Chunk(process, address, length, chunks[run].checkpoint(), chunks[run].block(),
                    withins[run], Chunk.Kind.DATA);
            case STORED -> new Chunk(process, address, length, checkpoint, -1, within, Chunk.Kind.DATA);
        };
    }
}
