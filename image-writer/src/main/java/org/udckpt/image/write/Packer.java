package org.udckpt.image.write;

import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdException;
import java.io.Closeable;
import org.udckpt.image.Manifest;
import org.udckpt.image.Range;
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
    private final ZstdCompressCtx zstd;

    Packer(WriterOptions options, BlockSealer sealer) {
        this.checksum = new Checksum(sealer == null ? options.form().integrity() : Manifest.Integrity.XXH3);
        this.incremental = options.form().incremental();
        this.sealer = sealer;
        this.zstd = options.form().zstdLevel() == 0 ? null
                : new ZstdCompressCtx().setLevel(options.form().zstdLevel()).setChecksum(true);
    }

    void pack(Slot slot) {
        int length = slot.select(incremental ? checksum.hashes() : null);
        if (length == 0) {
            return;
        }
        if (zstd != null) {
            PageBuffer other = slot.buffers().take();
            int bytes = compress(slot.held(), length, other);
            if (bytes > 0) {
                slot.packed(sealed(other, bytes, Codec.ZSTD), other);
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
    private int compress(PageBuffer from, int length, PageBuffer to) {
        if (length == Range.PAGE) {
            return 0;
        }
        int bytes;
        try {
            bytes = zstd.compressDirectByteBuffer(to.view().clear(), 0, length - Range.PAGE, from.view().clear(), 0,
                    length);
        } catch (ZstdException e) {
            if (e.getErrorCode() == com.github.luben.zstd.Zstd.errDstSizeTooSmall()) {
                return 0;
            }
            throw e;
        }
        to.memory().asSlice(bytes, Block.padded(bytes) - bytes).fill((byte) 0);
        return bytes;
    }

    @Override
    public void close() {
        if (zstd != null) {
            zstd.close();
        }
    }
}
