package org.udckpt.inspect.core;

import org.udckpt.process.model.MemorySource;

/**
 * A range of a process's addresses, and where its bytes are.
 *
 * @param start first address, a multiple of the page size
 * @param end the first address after it
 * @param source of its bytes; null: none are stored
 * @param offset of the first byte in {@code source}
 * @param onDisk nothing is stored since the bytes are those of the mapped file
 */
record Piece(long start, long end, MemorySource source, long offset, boolean onDisk) {
    static Piece stored(long start, long end, MemorySource source, long offset) {
        return new Piece(start, end, source, offset, false);
    }

    static Piece zero(long start, long end) {
        return new Piece(start, end, null, 0, false);
    }

    static Piece file(long start, long end) {
        return new Piece(start, end, null, 0, true);
    }

    long size() {
        return end - start;
    }

    boolean stored() {
        return source != null;
    }
}
