package org.udckpt.image.write;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import com.github.luben.zstd.ZstdCompressCtx;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.udckpt.image.Range;
import org.udckpt.image.block.BytePlanes;
import org.udckpt.image.block.Codec;
import org.udckpt.image.storage.DeviceMemory;
import org.udckpt.image.write.PageBuffers.PageBuffer;

/**
 * Each block as its content asks for: split into planes of bytes, those of them that look random as they are and the
 * others compressed; or the bytes in their order in one frame, where they repeat themselves and planes would hide it;
 * or not at all. The numbers here are those that came out best on the memory of programs (results/compression.txt).
 */
final class AdaptiveCompressor implements BlockCompressor {
    /** A plane that seems to have more bits a byte is left as it is: to save an eighth of it takes longest of all. */
    private static final float RANDOM = 7.0f;
    /** No plane has more. */
    private static final float NEVER = 9;
    /** Parts of a block that compression has to save by the estimates. */
    private static final float LEAST_SAVED = 0.03f;
    /** What bytes in their order must save more than planes, in parts of a block: they take several times as long. */
    private static final float ORDER_BONUS = 0.2f;
    /** By so much planes must come out smaller than the entropies say, for none to be left as it is. */
    private static final float REPEATS_BONUS = 0.05f;
    /** Bytes that are compressed to see what comes of it. */
    private static final int TRIAL = 32 << 10;

    /** A frame header with the content's size in four bytes, and the header of its only block (RFC 8878, 3.1.1). */
    private static final int MAGIC = 0xFD2FB528, ONE_SEGMENT_SIZE_IN_4 = 0xA0, LAST_RAW_BLOCK = 1, RAW_HEADER = 12;

    private final BytePlanes bytePlanes = BytePlanes.best();
    private final PlaneEntropy entropy = new PlaneEntropy(bytePlanes);
    /** Matches are few in planes, and a table that stays in the nearest cache finds most of them. */
    private final ZstdCompressCtx planes = new ZstdCompressCtx().setLevel(1).setHashLog(12).setMinMatch(7);
    private final ZstdCompressCtx ordered = new ZstdCompressCtx().setLevel(-1);
    private final MemorySegment scratch = DeviceMemory.piece();
    private final ByteBuffer scratchView = scratch.asByteBuffer();
    private Codec codec;
    /** Bits a byte of planes that are left as they are. */
    private float limit;

    /** @throws IOException when there is no memory for a block more */
    AdaptiveCompressor() throws IOException {}

    @Override
    public int compress(PageBuffer from, int length, PageBuffer to) {
        if (length < PlaneEntropy.LEAST) {
            return 0;
        }
        entropy.measure(from.memory(), length);
        limit = RANDOM;
        float inPlanes = estimate();
        float inOrder = inPlanes <= ORDER_BONUS ? 1 : tried(from.view(), length, to.view());
        if (inOrder < inPlanes - ORDER_BONUS) {
            inPlanes = tried(inPlanes, from.memory(), length, to.view());
        }
        if (inOrder < inPlanes - ORDER_BONUS || inOrder < 1 - LEAST_SAVED && inPlanes >= 1 - LEAST_SAVED) {
            codec = Codec.ZSTD;
            return BlockCompressor.frame(ordered, from.view(), 0, length, to.view(), 0, length - Range.PAGE);
        }
        if (inPlanes >= 1 - LEAST_SAVED) {
            return 0;
        }
        codec = Codec.PLANES;
        return frames(from.memory(), length, to, length - Range.PAGE);
    }

    /** Parts of the block that its planes would take. */
    private float estimate() {
        float sum = 0;
        for (int plane = 0; plane < BytePlanes.PLANES; plane++) {
            sum += random(plane) ? Byte.SIZE : entropy.of(plane);
        }
        return sum / (BytePlanes.PLANES * Byte.SIZE);
    }

    private boolean random(int plane) {
        return entropy.of(plane) > limit;
    }

    private float tried(ByteBuffer from, int length, ByteBuffer to) {
        int trial = Math.min(length, TRIAL);
        return parts(BlockCompressor.frame(ordered, from, begin(length), trial, to, 0, trial), trial);
    }

    /** What repeats itself does so in planes, too, where entropies do not show it. */
    private float tried(float estimate, MemorySegment from, int length, ByteBuffer to) {
        int trial = Math.min(length, TRIAL);
        bytePlanes.split(from.asSlice(begin(length), trial), trial, 0, 0, scratch, scratch);
        float parts = parts(BlockCompressor.frame(planes, scratchView, 0, trial, to, 0, trial), trial);
        if (parts < estimate - REPEATS_BONUS) {
            limit = NEVER;
        }
        return Math.min(estimate, parts);
    }

    /** Of what is tried: whole pages in the middle of the block. */
    private static int begin(int length) {
        return (length - Math.min(length, TRIAL)) / 2 & -Range.PAGE;
    }

    private static float parts(int bytes, int of) {
        return bytes == 0 ? 1 : (float) bytes / of;
    }

    /** One of each plane that looks random, one of those in between. */
    private int frames(MemorySegment from, int length, PageBuffer to, int room) {
        int size = length / BytePlanes.PLANES;
        int inPlace = 0;
        while (inPlace < BytePlanes.PLANES - 1 && random(inPlace)) {
            inPlace++;
        }
        bytePlanes.split(from, length, inPlace, RAW_HEADER, to.memory(), scratch);
        int bytes = 0;
        int plane = 0;
        while (plane < BytePlanes.PLANES) {
            int first = plane++;
            int more;
            if (random(first)) {
                more = asItIs(first < inPlace, first * size, size, to.memory(), bytes, room - bytes);
            } else {
                while (plane < BytePlanes.PLANES && !random(plane)) {
                    plane++;
                }
                more = BlockCompressor.frame(planes, scratchView, first * size, (plane - first) * size, to.view(),
                        bytes, room - bytes);
            }
            if (more == 0) {
                return 0;
            }
            bytes += more;
        }
        return bytes;
    }

    /**
     * A frame of one block that is not compressed: a plane has at most as many bytes as a block may have, 128 KiB.
     *
     * @param inPlace the bytes are there already
     */
    private int asItIs(boolean inPlace, int at, int size, MemorySegment to, int toAt, int room) {
        if (size + RAW_HEADER > room) {
            return 0;
        }
        to.set(JAVA_INT_UNALIGNED, toAt, MAGIC);
        to.set(JAVA_INT_UNALIGNED, toAt + 4L, ONE_SEGMENT_SIZE_IN_4 | size << 8);
        to.set(JAVA_INT_UNALIGNED, toAt + 8L, size >>> 24 | (LAST_RAW_BLOCK | size << 3) << 8);
        if (!inPlace) {
            MemorySegment.copy(scratch, at, to, (long) toAt + RAW_HEADER, size);
        }
        return size + RAW_HEADER;
    }

    @Override
    public Codec codec() {
        return codec;
    }

    @Override
    public void close() {
        planes.close();
        ordered.close();
    }
}
