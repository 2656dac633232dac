package org.udckpt.image;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.function.Supplier;

/** Reads blocks, decrypts and unpacks them, and checks every byte. For one thread. */
final class BlockReader {
    private final Checksum checksum;
    private final ImageCipher.Worker cipher;
    private final byte[] stored = new byte[Block.MAX_LENGTH];
    private byte[] plain;

    /** @param cipher null when the blocks are not encrypted */
    BlockReader(Manifest.Integrity integrity, ImageCipher.Worker cipher) {
        this.checksum = new Checksum(cipher == null ? integrity : Manifest.Integrity.XXH3);
        this.cipher = cipher;
    }

    /**
     * Fills {@code into} with a block's plain bytes.
     *
     * @param into  exactly as long as the block
     * @param whose memory it is, for errors
     * @throws ImageError.Corrupt when the bytes are not those that were written; {@code into} must then not be used
     */
    void read(BlockFiles files, Block block, MemorySegment into, Supplier<String> whose) throws IOException {
        boolean asItIs = block.codec() == Codec.RAW && cipher == null;
        if (asItIs) {
            files.stored(block, into.asByteBuffer());
            MemorySegment.copy(into, ValueLayout.JAVA_BYTE, 0, stored, 0, block.length());
        } else {
            files.stored(block, ByteBuffer.wrap(stored, 0, block.stored()));
        }
        check(files, block, whose);
        if (!asItIs) {
            byte[] bytes = switch (block.codec()) {
                case RAW -> stored;
                case ZSTD -> unpacked(files, block, whose);
            };
            MemorySegment.copy(bytes, 0, into, ValueLayout.JAVA_BYTE, 0, block.length());
        }
    }

    /** Decrypts {@link #stored}: nothing looks into the bytes before it is known that they are those that were written. */
    private void check(BlockFiles files, Block block, Supplier<String> whose) throws ImageError {
        if (cipher != null && !cipher.open(stored, block.stored(), block.seal())) {
            throw files.damaged(block, whose.get(), "authentication tag mismatch");
        }
        if (checksum.compute(stored, block.stored()) != block.checksum()) {
            throw files.damaged(block, whose.get(), "checksum mismatch");
        }
        if (block.digest() != null && !MessageDigest.isEqual(checksum.digest(stored, block.stored()), block.digest())) {
            throw files.damaged(block, whose.get(), "SHA-256 mismatch");
        }
    }

    private byte[] unpacked(BlockFiles files, Block block, Supplier<String> whose) throws ImageError {
        if (plain == null) {
            plain = new byte[Block.MAX_LENGTH];
        }
        try {
            long length = Zstd.decompressByteArray(plain, 0, block.length(), stored, 0, block.packed());
            if (length == block.length()) {
                return plain;
            }
            throw files.damaged(block, whose.get(), "decompresses to " + length + " bytes");
        } catch (ZstdException e) {
            throw files.damaged(block, whose.get(), "does not decompress: " + e.getMessage());
        }
    }
}
