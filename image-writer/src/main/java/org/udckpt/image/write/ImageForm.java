package org.udckpt.image.write;

import java.util.Objects;
import org.udckpt.image.Manifest;
import org.udckpt.image.key.ImageKey;

/**
 * In which form the memory of a checkpoint is stored. Whether it is encrypted is the key's matter
 * ({@link ImageKey#with}).
 *
 * @param integrity what protects memory; {@link Manifest.Integrity#SHA256} costs about half a second of CPU per GiB,
 *     {@link Manifest.Integrity#GMAC} a fifth of that
 * @param zstdLevel how hard to compress, 1 to 19; 0: not at all; {@link #ADAPTIVE}: as each block's content asks for
 * @param incremental remember what was written ({@link CheckpointWriter#history}), 16 bytes a page, for the next
 *     checkpoint
 */
public record ImageForm(Manifest.Integrity integrity, int zstdLevel, boolean incremental) {
    /** The hardest compression that is offered; above it zstd takes more memory than is worth it. */
    public static final int MOST_ZSTD_LEVEL = 19;
    /** In place of a level: what saves most for its processor time, chosen block by block. */
    public static final int ADAPTIVE = -1;
    /** GMAC, not compressed, not remembered. */
    public static final ImageForm PLAIN = new ImageForm(Manifest.Integrity.GMAC, 0, false);

    public ImageForm {
        Objects.requireNonNull(integrity, "integrity");
        if (zstdLevel < ADAPTIVE || zstdLevel > MOST_ZSTD_LEVEL) {
            throw new IllegalArgumentException(
                    "zstd level " + zstdLevel + ": 1 to " + MOST_ZSTD_LEVEL + ", 0 for none, "
                            + ADAPTIVE + " for the choice of each block");
        }
    }

    public ImageForm withIntegrity(Manifest.Integrity other) {
        return new ImageForm(other, zstdLevel, incremental);
    }

    public ImageForm withZstdLevel(int other) {
        return new ImageForm(integrity, other, incremental);
    }

    public ImageForm withIncremental(boolean other) {
        return new ImageForm(integrity, zstdLevel, other);
    }
}
