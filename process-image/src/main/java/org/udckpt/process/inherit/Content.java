package org.udckpt.process.inherit;

/**
 * Bytes at an address that several processes have.
 *
 * @param pid   one that has them
 * @param block that holds them in the image
 * @param bias  what is to be added to an address for its place in the block
 */
public record Content(long start, long end, int pid, Object block, long bias, MappingKind kind) {
    /** Whether both are the same bytes wherever they overlap, in mappings of one kind. */
    boolean alike(Content other) {
        return bias == other.bias && block.equals(other.block) && kind.equals(other.kind);
    }

    long[] range() {
        return new long[]{start, end};
    }

    Content cut(long from, long to) {
        return from <= start && to >= end ? this
                : new Content(Math.max(from, start), Math.min(to, end), pid, block, bias, kind);
    }
}
