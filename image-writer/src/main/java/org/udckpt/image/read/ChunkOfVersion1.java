package org.udckpt.image.read;

import org.udckpt.image.block.Block;
import org.udckpt.image.block.Chunk;

/**
 * A row of the table {@code chunks} as format version 1 has it: each piece of memory is a block of its own, not
 * compressed.
 *
 * @param checksum XXH3-64 (seed 0) of the bytes; 0 for zeros
 * @param digest SHA-256 of the bytes; null for zeros and in images with integrity XXH3
 */
record ChunkOfVersion1(int process, long address, long length, int stripe, long offset, long checksum, Chunk.Kind kind,
        byte[] digest) {
    static final int MAX_LENGTH = Block.MAX_LENGTH;
}
