package org.udckpt.bench.micro;

import com.github.luben.zstd.ZstdCompressCtx;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.udckpt.image.Manifest;
import org.udckpt.image.block.Checksum;

/**
 * What a megabyte of memory goes through on its way to an image: both checksums, and compression of numbers that
 * compress by a third.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class PipelineBenchmark {
    private static final int BYTES = 1 << 20;
    private final ByteBuffer page = ByteBuffer.allocateDirect(BYTES);
    private final ByteBuffer packed = ByteBuffer.allocateDirect(2 * BYTES);
    private final MemorySegment memory = MemorySegment.ofBuffer(page);
    private final Checksum checksum = new Checksum(Manifest.Integrity.SHA256);
    private final ZstdCompressCtx zstd = new ZstdCompressCtx().setLevel(1).setChecksum(true);

    @Setup
    public void fill() {
        Random random = new Random(1);
        while (page.hasRemaining()) {
            page.putDouble(Math.round(random.nextGaussian() * 1e6) / 1e6);
        }
    }

    @TearDown
    public void close() {
        zstd.close();
    }

    @Benchmark
    public long xxh3() {
        return checksum.compute(memory, BYTES);
    }

    @Benchmark
    public byte[] sha256() {
        return checksum.digest(memory, BYTES);
    }

    @Benchmark
    public int zstd() {
        return zstd.compressDirectByteBuffer(packed, 0, packed.capacity(), page, 0, BYTES);
    }
}
