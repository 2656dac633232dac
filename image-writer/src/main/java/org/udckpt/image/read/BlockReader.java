package org.udckpt.image.read;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.function.Supplier;
import org.udckpt.image.ImageError;
import org.udckpt.image.Manifest;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.BytePlanes;
import org.udckpt.image.block.Checksum;
import org.udckpt.image.block.Codec;
import org.udckpt.image.key.BlockSealer;
import org.udckpt.image.storage.DeviceMemory;

/** Reads blocks, decrypts and unpacks them, and checks every byte. For one thread. */
final class BlockReader {
    private final Checksum checksum;
    private final BlockSealer sealer;
    private MemorySegment stored;
    private MemorySegment plain;
    private BytePlanes planes;

    /** @param sealer null when the blocks are not sealed */
    BlockReader(Manifest.Integrity integrity, BlockSealer sealer) {
        this.checksum = new Checksum(sealer == null ? integrity : Manifest.Integrity.XXH3);
        this.sealer = sealer;
    }

    /**
     * Fills {@code into} with a block's plain bytes.
     *
     * @param into  exactly as long as the block
     * @param whose memory it is, for errors
     * @throws ImageError.Corrupt when the bytes are not those that were written; {@code into} must then not be used
     */
    void read(BlockFiles files, Block block, MemorySegment into, Supplier<String> whose) throws IOException {
        if (block.codec() == Codec.RAW && into.isNative()) {
            load(files, block, into, whose);
            return;
        }
        stored = stored == null ? DeviceMemory.piece() : stored;
        load(files, block, stored.asSlice(0, block.stored()), whose);
        switch (block.codec()) {
            case RAW -> into.copyFrom(stored.asSlice(0, block.length()));
            case ZSTD -> {
                MemorySegment target = into.isNative() ? into : plain();
                unpack(files, block, target, whose);
                if (target != into) {
                    into.copyFrom(target.asSlice(0, block.length()));
                }
            }
            case PLANES -> {
                unpack(files, block, plain(), whose);
                MemorySegment target = into.isNative() ? into : stored; // whose bytes are used up
                planes().join(plain, block.length(), target);
                if (target != into) {
                    into.copyFrom(target.asSlice(0, block.length()));
                }
            }
        }
    }

    /**
     * Reads and decrypts the stored bytes: nothing looks into them before it is known that they are those that were
     * written.
     */
    private void load(BlockFiles files, Block block, MemorySegment to, Supplier<String> whose) throws IOException {
        files.stored(block, to.asByteBuffer());
        if (sealer != null && !sealer.open(to, block.stored(), block.seal())) {
            throw files.damaged(block, whose.get(), "authentication tag mismatch");
        }
        if (!(sealer != null && sealer.tagsOnly()) && checksum.compute(to, block.stored()) != block.checksum()) {
            throw files.damaged(block, whose.get(), "checksum mismatch");
        }
        if (block.digest() != null && !MessageDigest.isEqual(checksum.digest(to, block.stored()), block.digest())) {
            throw files.damaged(block, whose.get(), "SHA-256 mismatch");
        }
    }

    private MemorySegment plain() throws IOException {
        plain = plain == null ? DeviceMemory.piece() : plain;
        return plain;
    }

    private BytePlanes planes() {
        planes = planes == null ? BytePlanes.best() : planes;
        return planes;
    }

    private void unpack(BlockFiles files, Block block, MemorySegment target, Supplier<String> whose)
            throws IOException {
        try {
            long length = Zstd.decompressDirectByteBuffer(target.asByteBuffer(), 0, block.length(),
                    stored.asByteBuffer(), 0, block.packed());
            if (length != block.length()) {
                throw files.damaged(block, whose.get(), "decompresses to " + length + " bytes");
            }
        } catch (ZstdException e) {
            throw files.damaged(block, whose.get(), "does not decompress: " + e.getMessage());
        }
    }
}
