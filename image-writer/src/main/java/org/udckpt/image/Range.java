package org.udckpt.image;

/**
 * A range of a process's address space.
 *
 * @param address first byte, a multiple of {@link #PAGE} (as an unsigned number it may be anything up to 2^63)
 * @param length  bytes, a positive multiple of {@link #PAGE}
 */
public record Range(long address, long length) {
    /** Bytes in a page: the unit of addresses, lengths and file offsets of memory in images. */
    public static final int PAGE = 4096;

    public Range {
        if (address < 0 || length <= 0 || address % PAGE != 0 || length % PAGE != 0 || address + length < 0) {
            throw new IllegalArgumentException("not a range of whole pages: 0x" + Long.toHexString(address) + " + 0x"
                    + Long.toHexString(length));
        }
    }

    /** The first byte after the range. */
    public long end() {
        return address + length;
    }
}
