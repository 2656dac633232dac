package org.udckpt.image.write;

import com.github.luben.zstd.ZstdCompressCtx;
import org.udckpt.image.Range;
import org.udckpt.image.block.Codec;
import org.udckpt.image.write.PageBuffers.PageBuffer;

/** Each block in one frame of the level that was asked for. */
final class LevelCompressor implements BlockCompressor {
    private final ZstdCompressCtx zstd;

    LevelCompressor(int level) {
        zstd = new ZstdCompressCtx().setLevel(level).setChecksum(true);
    }

    @Override
    public int compress(PageBuffer from, int length, PageBuffer to) {
        return length == Range.PAGE ? 0
                : BlockCompressor.frame(zstd, from.view(), 0, length, to.view(), 0, length - Range.PAGE);
    }

    @Override
    public Codec codec() {
        return Codec.ZSTD;
    }

    @Override
    public void close() {
        zstd.close();
    }
}
