package org.udckpt.image.write;

import java.lang.foreign.MemorySegment;
import org.udckpt.image.block.Hashes;

/**
 * XXH3-128 of each page of a slot. Two pages at one address are taken for the same when all 128 bits agree: among 2^50
 * pairs of different pages (four exabytes) the chance that one agrees is below 2^-77.
 */
final class PageHashes {
    private final long[] values = new long[2 * Slot.PAGES];

    void compute(Hashes hashes, MemorySegment bytes, int pages) {
        hashes.xxh3Pages(bytes, pages, values);
    }

    /** The form in which hashes computed elsewhere are given: two numbers a page, the high one first. */
    long[] values() {
        return values;
    }

    long high(int page) {
        return values[2 * page];
    }

    long low(int page) {
        return values[2 * page + 1];
    }

    /** Hashes of {@code pages} pages from {@code first} on, two numbers for each. */
    long[] copy(int first, int pages) {
        return java.util.Arrays.copyOfRange(values, 2 * first, 2 * (first + pages));
    }
}
