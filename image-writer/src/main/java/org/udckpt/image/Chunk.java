package org.udckpt.image;

/**
 * A row of the table {@code chunks}: a piece of a process's memory and where its bytes are.
 *
 * @param process  the id that the writer's caller gave the process
 * @param address  first byte, a multiple of 4096
 * @param length   bytes, a multiple of 4096
 * @param stripe   number of the node's stripe file, -1 for {@link Kind#ZERO}
 * @param offset   offset in bytes in that file, a multiple of 4096; 0 for {@link Kind#ZERO}
 * @param checksum XXH3-64 (seed 0) of the bytes; 0 for {@link Kind#ZERO}
 * @param kind     whether bytes are stored
 * @param digest   SHA-256 of the bytes; null for {@link Kind#ZERO} and in images with integrity xxh3
 */
public record Chunk(int process, long address, long length, int stripe, long offset, long checksum, Kind kind, byte[] digest) {
    /** Bytes of the largest chunk that is written or accepted. */
    public static final int MAX_LENGTH = 1 << 20;

    /** Whether a chunk has bytes in a stripe file. */
    public enum Kind { DATA, ZERO }

    /** The first byte after the chunk. */
    public long end() {
        return address + length;
    }

    static Chunk zero(int process, long address, long length) {
        return new Chunk(process, address, length, -1, 0, 0, Kind.ZERO, null);
    }
}
