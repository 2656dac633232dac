package org.udckpt.image.write;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.udckpt.image.Range;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Codec;
import org.udckpt.image.block.Hashes;
import org.udckpt.image.write.PageBuffers.PageBuffer;

/**
 * A place in the ring: up to 1 MiB of pages of one process on their way to a stripe file. A producer fills it, a
 * {@link Packer} turns what must be stored into a block, a stripe writer appends that.
 */
final class Slot {
    static final int BYTES = Block.MAX_LENGTH;
    static final int PAGES = BYTES / Range.PAGE;

    private final PageBuffers buffers;
    /** From {@link #begin} to {@link #drop}. */
    private PageBuffer held;

    /** The job whose pages these are; null in an empty slot. */
    MemoryJob job;
    private int pages;
    private final long[] addresses = new long[PAGES];

    private final PageRuns runs = new PageRuns();
    /** Null where nobody asks for them. */
    private PageHashes hashes;
    private int length;
    private Packed packed;

    /**
     * What a packer made of the plain bytes.
     *
     * @param bytes of {@code codec}; the rest up to a whole page is zeros
     */
    record Packed(int bytes, Codec codec, long checksum, byte[] digest, byte[] seal) {}

    Slot(PageBuffers buffers) {
        this.buffers = buffers;
    }

    void begin(MemoryJob owner) {
        job = owner;
        pages = 0;
        length = 0;
        packed = null;
        runs.clear();
        held = buffers.take();
    }

    void drop() {
        job = null;
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
        return held.memory().asSlice((long) pages * Range.PAGE, length);
    }

    void filled(long address, int length) {
        for (int at = 0; at < length; at += Range.PAGE) {
            addresses[pages++] = address + at;
        }
    }

    int pages() {
        return pages;
    }

    PageBuffer held() {
        return held;
    }

    /** A second buffer, for what is packed; it goes to {@link #packed} or is given back. */
    PageBuffers buffers() {
        return buffers;
    }

    /**
     * Finds what must be stored and moves it to the front.
     *
     * @param by for holding the pages against those of the checkpoint before; null where nobody asks for that
     * @return how many bytes must be stored
     */
    int select(Hashes by) {
        if (by != null) {
            hashes = hashes == null ? new PageHashes() : hashes;
            hashes.compute(by, held.memory(), pages);
        }
        runs.find(held.memory(), addresses, pages, hashes, job.previous());
        for (int run = 0; run < runs.count(); run++) {
            if (runs.kind(run) == PageRuns.Kind.STORED) {
                long from = (long) runs.first(run) * Range.PAGE;
                int size = runs.pages(run) * Range.PAGE;
                if (from != length) {
                    MemorySegment.copy(held.memory(), from, held.memory(), length, size);
                }
                length += size;
            }
        }
        return length;
    }

    /** The block is now in {@code other}, when not null; the buffer of the plain bytes is free again. */
    void packed(Packed how, PageBuffer other) {
        packed = how;
        if (other != null) {
            buffers.giveBack(held);
            held = other;
        }
    }

    /** The data to append, {@code null} when there is none. */
    ByteBuffer data() {
        return packed == null ? null : held.view().limit(Block.padded(packed.bytes())).position(0);
    }

    /** Adds the rows of this slot; the block begins at {@code offset} of the stripe file. */
    void describe(int stripe, long offset, StripeLog log) {
        int number = packed == null ? -1
                : log.add(new Block(stripe, offset, length, packed.bytes(), packed.codec(), packed.checksum(),
                        packed.digest(), packed.seal()));
        runs.describe(job.process(), addresses, number, hashes, log);
    }

    /** Bytes of memory in it. */
    long bytes() {
        return (long) pages * Range.PAGE;
    }

    /** Bytes of zeros that are not stored, and of pages that an older checkpoint has. */
    long bytes(PageRuns.Kind kind) {
        return runs.bytes(kind);
    }

    long storedBytes() {
        return packed == null ? 0 : Block.padded(packed.bytes());
    }
}
