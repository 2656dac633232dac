package org.udckpt.process.model;

/**
 * Where an image has the bytes of a range. Two ranges of one image are stored once, and so hold the same bytes, where
 * both have the same block and the same place in it.
 *
 * @param block what holds the bytes; equal to that of another range where it is the same one
 * @param offset of {@code start} in the block
 */
public record StoredRange(long start, long end, Object block, long offset) {
    /** The block of pages of zeros, which are not stored: all have the same bytes. */
    public static final Object ZEROS = "zeros";

    /** A range of zeros: two of them are alike at each address. */
    public static StoredRange zeros(long start, long end) {
        return new StoredRange(start, end, ZEROS, start);
    }
}
