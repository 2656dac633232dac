package org.udckpt.image.write;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdException;
import java.io.Closeable;
import java.nio.ByteBuffer;
import org.udckpt.image.block.Codec;
import org.udckpt.image.write.PageBuffers.PageBuffer;

/** Compresses blocks. For one thread. */
sealed interface BlockCompressor extends Closeable permits LevelCompressor, AdaptiveCompressor {
    /**
     * Compresses the first {@code length} bytes.
     *
     * @return how many bytes there are now in {@code to}; 0 when the block had better be stored as it is, and in any
     *     case where compression would not save a page
     */
    int compress(PageBuffer from, int length, PageBuffer to);

    /** How the block was packed that {@link #compress} made last. */
    Codec codec();

    @Override
    void close();

    /** Bytes of the frame, 0 when they are more than {@code room}. */
    static int frame(ZstdCompressCtx zstd, ByteBuffer from, int at, int length, ByteBuffer to, int toAt, int room) {
        try {
            return zstd.compressDirectByteBuffer(to.clear(), toAt, room, from.clear(), at, length);
        } catch (ZstdException e) {
            if (e.getErrorCode() == Zstd.errDstSizeTooSmall()) {
                return 0;
            }
            throw e;
        }
    }
}
