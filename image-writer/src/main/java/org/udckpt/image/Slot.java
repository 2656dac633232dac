package org.udckpt.image;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.udckpt.image.PageBuffers.PageBuffer;

/**
 * A place in the ring: up to 1 MiB of pages of one process on their way to a stripe file. A producer fills it, a
 * worker turns pages into runs and moves the data together, a stripe writer appends the data.
 */
final class Slot {
    static final int BYTES = Chunk.MAX_LENGTH;
    static final int PAGES = BYTES / Range.PAGE;
    /** A hole of fewer zero pages than this inside data is stored: it would cost more in rows than it saves. */
    private static final int SMALLEST_HOLE = 4;
    private static final MemorySegment ZEROS = Arena.global().allocate(Range.PAGE, Range.PAGE);

    private final PageBuffers buffers;
    /** From {@link #begin} to {@link #drop}. */
    private PageBuffer held;
    private MemorySegment buffer;

    /** Whose pages these are; null in a slot that carries nothing. */
    MemoryJob job;
    private int pages;
    private final long[] addresses = new long[PAGES];

    private int runs;
    private final int[] firstPage = new int[PAGES];
    private final int[] runPages = new int[PAGES];
    private final boolean[] zero = new boolean[PAGES];
    private final long[] checksums = new long[PAGES];
    private final byte[] digests = new byte[PAGES * Checksum.DIGEST_BYTES];
    private int stored;

    Slot(PageBuffers buffers) {
        this.buffers = buffers;
    }

    void begin(MemoryJob owner) {
        job = owner;
        pages = 0;
        runs = 0;
        stored = 0;
        held = buffers.take();
        buffer = held.memory();
    }

    void drop() {
        job = null;
        buffer = null;
        if (held != null) {
            buffers.giveBack(held);
            held = null;
        }
    }

    int room() {
        return BYTES - pages * Range.PAGE;
    }

    /** Where the next {@code length} bytes of pages go; they count once {@link #filled} was called. */
    MemorySegment next(int length) {
        return buffer.asSlice((long) pages * Range.PAGE, length);
    }

    void filled(long address, int length) {
        for (int at = 0; at < length; at += Range.PAGE) {
            addresses[pages++] = address + at;
        }
    }

    /** Finds the runs, moves the data to the front and computes the checksums. */
    void scan(Checksum checksum) {
        findRuns();
        for (int run = 0; run < runs; run++) {
            if (!zero[run]) {
                long from = (long) firstPage[run] * Range.PAGE;
                int length = runPages[run] * Range.PAGE;
                checksums[run] = checksum.compute(buffer, from, length, digests, run * Checksum.DIGEST_BYTES);
                if (from != stored) {
                    MemorySegment.copy(buffer, from, buffer, stored, length);
                }
                stored += length;
            }
        }
    }

    private void findRuns() {
        for (int page = 0; page < pages; page++) {
            boolean isZero = MemorySegment.mismatch(buffer, (long) page * Range.PAGE, (long) (page + 1) * Range.PAGE,
                    ZEROS, 0, Range.PAGE) < 0;
            boolean adjacent = page > 0 && addresses[page] == addresses[page - 1] + Range.PAGE;
            if (adjacent && zero[runs - 1] == isZero) {
                runPages[runs - 1]++;
            } else if (adjacent && !isZero && isSmallHole(runs - 1)) {
                runPages[runs - 2] += runPages[runs - 1] + 1;
                runs--;
            } else {
                firstPage[runs] = page;
                runPages[runs] = 1;
                zero[runs] = isZero;
                runs++;
            }
        }
    }

    /** Whether a run is a few zero pages that directly follow data. */
    private boolean isSmallHole(int run) {
        return run > 0 && zero[run] && !zero[run - 1] && runPages[run] < SMALLEST_HOLE
                && addresses[firstPage[run]] == addresses[firstPage[run] - 1] + Range.PAGE;
    }

    /** The data to append, {@code null} when there is none. */
    ByteBuffer data() {
        return stored == 0 ? null : held.view().limit(stored).position(0);
    }

    /** Adds the rows of this slot's runs; the data begins at {@code offset} of the stripe file. */
    void describe(int stripe, long offset, boolean withDigest, ChunkLog log) {
        long at = offset;
        for (int run = 0; run < runs; run++) {
            long address = addresses[firstPage[run]];
            long length = (long) runPages[run] * Range.PAGE;
            if (zero[run]) {
                log.add(Chunk.zero(job.process(), address, length));
            } else {
                byte[] digest = withDigest ? java.util.Arrays.copyOfRange(digests, run * Checksum.DIGEST_BYTES,
                        (run + 1) * Checksum.DIGEST_BYTES) : null;
                log.add(new Chunk(job.process(), address, length, stripe, at, checksums[run], Chunk.Kind.DATA, digest));
                at += length;
            }
        }
    }

    long zeroBytes() {
        return (long) pages * Range.PAGE - stored;
    }

    long storedBytes() {
        return stored;
    }
}
