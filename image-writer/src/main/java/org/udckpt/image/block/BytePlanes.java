package org.udckpt.image.block;

import java.lang.foreign.MemorySegment;

/**
 * The bytes of numbers of eight bytes by their places: first the first bytes of all numbers, then their second ones,
 * and so on. Signs and exponents of floating-point numbers, and the upper bytes of integers and addresses, are alike in
 * neighbours, and lie together then; the lower bytes, often as good as random, do not stand between them.
 *
 * <p>All memory is native. Whichever of the two kinds is there, the bytes are the same. For one thread.
 */
public sealed interface BytePlanes permits NativePlanes, JavaPlanes {
    int PLANES = Long.BYTES;
    /** Values of a byte. */
    int VALUES = 256;
    /** What {@link #count} looks at: runs, evenly spread, and numbers in each. */
    int RUNS = 32, RUN = 32;
    /** Lengths are multiples of so many bytes. */
    int UNIT = 128;

    /** By C where it is there: several times as fast, from the first call on. */
    static BytePlanes best() {
        return NativePlanes.THERE ? new NativePlanes() : new JavaPlanes();
    }

    /**
     * Splits the first {@code length} bytes.
     *
     * @param first  so many planes go to {@code to}, each behind {@code gap} bytes, which stay as they are
     * @param others where the other planes go, to the places that they have without those of the first and the gaps
     */
    void split(MemorySegment from, int length, int first, int gap, MemorySegment to, MemorySegment others);

    /** The other way round than {@link #split}, of all planes without gaps. */
    void join(MemorySegment from, int length, MemorySegment to);

    /**
     * Counts the values of the bytes of each plane among {@link #RUNS} times {@link #RUN} numbers, here and there in
     * the block.
     *
     * @param length at least that of so many numbers
     * @param counts is added to: {@link #VALUES} ints for each plane
     */
    void count(MemorySegment block, int length, MemorySegment counts);
}
