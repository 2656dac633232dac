package org.udckpt.image.block;

import org.udckpt.image.Range;

/**
 * A row of the table {@code blocks}: bytes of one process's pages that were packed and are checked together.
 *
 * @param stripe number of the node's stripe file
 * @param offset where it begins in that file, a multiple of 4096
 * @param length plain bytes: a multiple of 4096, at most {@link #MAX_LENGTH}
 * @param packed bytes after packing; {@code length} for {@link Codec#RAW}, else fewer
 * @param codec how they are packed
 * @param checksum XXH3-64 (seed 0) of the {@link #stored} bytes as they are before encryption, 0 where they have a tag
 *     by AES-256-GMAC
 * @param digest SHA-256 of the {@link #stored} bytes; null but in images with integrity SHA256 that are not encrypted
 * @param seal 12 bytes of nonce, 16 of tag: AES-256-GCM of the stored bytes in encrypted images, AES-256-GMAC in others
 *     with integrity GMAC; else null
 */
public record Block(int stripe, long offset, int length, int packed, Codec codec, long checksum, byte[] digest,
        byte[] seal) {
    /** Plain bytes of the largest block that is written or accepted. */
    public static final int MAX_LENGTH = 1 << 20;

    /** Bytes in the stripe file: the packed ones, and zeros up to the next multiple of 4096. */
    public int stored() {
        return padded(packed);
    }

    public static int padded(int packed) {
        return packed + Range.PAGE - 1 & -Range.PAGE;
    }
}
