package org.udckpt.image;

import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hasher128;
import com.dynatrace.hash4j.hashing.Hashing;

/**
 * XXH3-128 of each page of a slot. Two pages at one address are taken for the same when all 128 bits agree: among 2^50 pairs of
 * different pages (four exabytes) the chance that one agrees is below 2^-78.
 */
final class PageHashes {
    private static final Hasher128 XXH3 = Hashing.xxh3_128();
    private final long[] values = new long[2 * Slot.PAGES];

    void compute(byte[] bytes, int pages) {
        for (int page = 0; page < pages; page++) {
            HashValue128 value = XXH3.hashBytesTo128Bits(bytes, page * Range.PAGE, Range.PAGE);
            values[2 * page] = value.getMostSignificantBits();
            values[2 * page + 1] = value.getLeastSignificantBits();
        }
    }

    long high(int page) {
        return values[2 * page];
    }

    long low(int page) {
        return values[2 * page + 1];
    }

    /** Of {@code pages} pages from {@code first} on, two numbers for each. */
    long[] copy(int first, int pages) {
        return java.util.Arrays.copyOfRange(values, 2 * first, 2 * (first + pages));
    }
}
