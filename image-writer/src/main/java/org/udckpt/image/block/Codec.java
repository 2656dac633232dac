package org.udckpt.image.block;

/** How a block's bytes are packed. */
public enum Codec {
    /** As they are. */
    RAW,
    /** One Zstandard frame (RFC 8878) with a checksum of its content. */
    ZSTD
}
