package org.udckpt.image;

import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdException;
import java.io.Closeable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import org.udckpt.image.PageBuffers.PageBuffer;

/**
 * Makes blocks of what slots hold: selects, compresses, encrypts, computes checksums. For one thread: it has a scratch array,
 * because XXH3, SHA-256 and AES are several times faster on a Java array than on native memory.
 */
final class Packer implements Closeable {
    private final Checksum checksum;
    private final boolean incremental;
    private final ImageCipher.Worker cipher;
    private final ZstdCompressCtx zstd;
    private final byte[] scratch = new byte[Slot.BYTES];

    Packer(WriterOptions options, ImageCipher cipher) {
        this.checksum = new Checksum(cipher == null ? options.form().integrity() : Manifest.Integrity.XXH3);
        this.incremental = options.form().incremental();
        this.cipher = cipher == null ? null : cipher.worker();
        this.zstd = options.form().zstdLevel() == 0 ? null : new ZstdCompressCtx().setLevel(options.form().zstdLevel()).setChecksum(true);
    }

    void pack(Slot slot) {
        int all = slot.pages() * Range.PAGE;
        if (incremental) {
            toScratch(slot.held(), all);
        }
        int length = slot.select(incremental ? scratch : null);
        if (length == 0) {
            return;
        }
        PageBuffer other = zstd == null ? null : slot.buffers().take();
        int bytes = other == null ? 0 : compress(slot.held(), length, other);
        if (bytes > 0) {
            toScratch(other, Block.padded(bytes));
            slot.packed(sealed(other, bytes, Codec.ZSTD), other);
            return;
        }
        if (other != null) {
            slot.buffers().giveBack(other);
        }
        if (!incremental || length != all) {
            toScratch(slot.held(), length);
        }
        slot.packed(sealed(slot.held(), length, Codec.RAW), null);
    }

    /** Of what is in the buffer and in the scratch array alike. */
    private Slot.Packed sealed(PageBuffer buffer, int bytes, Codec codec) {
        int stored = Block.padded(bytes);
        long sum = checksum.compute(scratch, stored);
        byte[] seal = null;
        if (cipher != null) {
            seal = cipher.seal(scratch, stored);
            MemorySegment.copy(scratch, 0, buffer.memory(), ValueLayout.JAVA_BYTE, 0, stored);
        }
        return new Slot.Packed(bytes, codec, sum, checksum.digest(scratch, stored), seal);
    }

    private void toScratch(PageBuffer from, int length) {
        MemorySegment.copy(from.memory(), ValueLayout.JAVA_BYTE, 0, scratch, 0, length);
    }

    /** How many bytes there are now in {@code to}, with zeros up to a whole page; 0 when that would not save a page. */
    private int compress(PageBuffer from, int length, PageBuffer to) {
        if (length == Range.PAGE) {
            return 0;
        }
        int bytes;
        try {
            bytes = zstd.compressDirectByteBuffer(to.view().clear(), 0, length - Range.PAGE, from.view().clear(), 0, length);
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
