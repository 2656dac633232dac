package org.udckpt.image.write;

import java.io.Closeable;
import java.io.IOException;
import org.udckpt.image.Manifest;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Checksum;
import org.udckpt.image.block.Codec;
import org.udckpt.image.key.BlockSealer;
import org.udckpt.image.write.PageBuffers.PageBuffer;

/** Makes blocks of what slots hold: selects, compresses, seals, computes checksums. For one thread. */
final class Packer implements Closeable {
    private final Checksum checksum;
    private final boolean incremental;
    private final BlockSealer sealer;
    private final BlockCompressor compressor;

    Packer(WriterOptions options, BlockSealer sealer) throws IOException {
        this.checksum = new Checksum(sealer == null ? options.form().integrity() : Manifest.Integrity.XXH3);
        this.incremental = options.form().incremental();
        this.sealer = sealer;
        this.compressor = switch (options.form().zstdLevel()) {
            case 0 -> null;
            case ImageForm.ADAPTIVE -> new AdaptiveCompressor();
            default -> new LevelCompressor(options.form().zstdLevel());
        };
    }

    void pack(Slot slot) {
        int length = slot.select(incremental ? checksum.hashes() : null);
        if (length == 0) {
            return;
        }
        if (compressor != null) {
            PageBuffer other = slot.buffers().take();
            int bytes = compressed(slot.held(), length, other);
            if (bytes > 0) {
                slot.packed(sealed(other, bytes, compressor.codec()), other);
                return;
            }
            slot.buffers().giveBack(other);
        }
        slot.packed(sealed(slot.held(), length, Codec.RAW), null);
    }

    private Slot.Packed sealed(PageBuffer buffer, int bytes, Codec codec) {
        int stored = Block.padded(bytes);
        long sum = sealer != null && sealer.tagsOnly() ? 0 : checksum.compute(buffer.memory(), stored);
        byte[] digest = checksum.digest(buffer.memory(), stored);
        return new Slot.Packed(bytes, codec, sum, digest, sealer == null ? null : sealer.seal(buffer.memory(), stored));
    }

    /** How many bytes there are now in {@code to}, with zeros up to a whole page; 0 when that would not save a page. */
    private int compressed(PageBuffer from, int length, PageBuffer to) {
        int bytes = compressor.compress(from, length, to);
        if (bytes > 0) {
            to.memory().asSlice(bytes, Block.padded(bytes) - bytes).fill((byte) 0);
        }
        return bytes;
    }

    @Override
    public void close() {
        if (compressor != null) {
            compressor.close();
        }
    }
}
