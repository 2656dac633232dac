package org.udckpt.image.block;

/** How a block's bytes are packed. */
public enum Codec {
    /** As they are. */
    RAW,
    /** One Zstandard frame (RFC 8878), which may have a checksum of its content. */
    ZSTD,
    /** Zstandard frames one after the other, together of the {@link BytePlanes} of the bytes. */
    PLANES
}
