package org.udckpt.image.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.luben.zstd.Zstd;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.image.Images;
import org.udckpt.image.Manifest;
import org.udckpt.image.Range;
import org.udckpt.image.block.BytePlanes;
import org.udckpt.image.block.Codec;
import org.udckpt.image.write.PageBuffers.PageBuffer;

/** Each sort of content is packed in the way that suits it, comes back as it was, and is never larger than it was. */
@Timeout(120)
class AdaptiveCompressorTest {
    /** What memory may hold, and how it should be packed. */
    enum Content {
        NOISE(Codec.RAW, (random, into) -> into.putLong(random.nextLong())),
        /** Signs and exponents are alike, all else is random. */
        NUMBERS(Codec.PLANES, (random, into) -> into.putDouble(1 + random.nextDouble())),
        /** The same, of numbers of four bytes. */
        FLOATS(Codec.PLANES, (random, into) -> into.putFloat(1 + random.nextFloat()).putFloat(random.nextFloat() + 1)),
        INDEXES(Codec.PLANES, (random, into) -> into.putInt(into.position() / 3).putInt(random.nextInt(5000))),
        ZEROS(Codec.PLANES, (random, into) -> into.putLong(random.nextInt(50) == 0 ? random.nextLong() : 0)),
        CONSTANT(Codec.PLANES, (random, into) -> into.putLong(0x0123456789abcdefL)),
        /** A few random numbers again and again: planes hide that. */
        REPEATED(Codec.ZSTD, (random, into) -> into.putLong(new Random(random.nextInt(300)).nextLong())),
        /** Runs of numbers that were there before: planes repeat themselves as well. */
        COPIES(Codec.PLANES, (random, into) -> into.putLong(into.position() < 1 << 12 ? random.nextLong()
                : into.getLong(into.position() - (1 << 12))));

        private final Codec codec;
        private final BiConsumer<Random, ByteBuffer> put;

        Content(Codec codec, BiConsumer<Random, ByteBuffer> put) {
            this.codec = codec;
            this.put = put;
        }

        byte[] bytes(Random random, int length) {
            ByteBuffer into = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
            while (into.hasRemaining()) {
                put.accept(random, into);
            }
            return into.array();
        }
    }

    @TempDir
    Path temp;
    private final Random random = new Random(Images.seed("AdaptiveCompressorTest"));
    private final Arena arena = Arena.ofConfined();
    private AdaptiveCompressor compressor;
    private PageBuffer from;
    private PageBuffer to;

    @BeforeEach
    void make() throws IOException {
        PageBuffers buffers = new PageBuffers(arena, 2);
        from = buffers.take();
        to = buffers.take();
        compressor = new AdaptiveCompressor();
    }

    @AfterEach
    void close() {
        compressor.close();
        arena.close();
    }

    /** How it was packed; it must come back. */
    private Codec packed(byte[] content) {
        from.memory().copyFrom(MemorySegment.ofArray(content));
        int bytes = compressor.compress(from, content.length, to);
        assertEquals(-1, from.memory().asSlice(0, content.length).mismatch(MemorySegment.ofArray(content)),
                "the plain bytes are needed where they do not get smaller");
        if (bytes == 0) {
            return Codec.RAW;
        }
        assertTrue(bytes <= content.length - Range.PAGE, "a page at least: " + bytes);
        MemorySegment back = arena.allocate(content.length);
        assertEquals(content.length, Zstd.decompressDirectByteBuffer(back.asByteBuffer(), 0, content.length,
                to.view().clear(), 0, bytes));
        if (compressor.codec() == Codec.PLANES) {
            MemorySegment joined = arena.allocate(content.length);
            BytePlanes.best().join(back, content.length, joined);
            back = joined;
        }
        assertEquals(-1, back.mismatch(MemorySegment.ofArray(content)));
        return compressor.codec();
    }

    @ParameterizedTest
    @EnumSource
    void eachContentInItsWay(Content content) {
        assertEquals(content.codec, packed(content.bytes(random, Slot.BYTES)));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 8, 31, 32, 100, 255})
    void ofAnyLength(int pages) {
        for (Content content : Content.values()) {
            packed(content.bytes(random, pages * Range.PAGE));
        }
    }

    @Test
    void onePageIsLeftAsItIs() {
        assertEquals(Codec.RAW, packed(Content.CONSTANT.bytes(random, Range.PAGE)));
    }

    /** What the samples and the trial see is not what the rest of the block is. */
    @Test
    void mixturesComeBack() {
        Map<Codec, Integer> ways = new EnumMap<>(Codec.class);
        for (int i = 0; i < 200; i++) {
            byte[] block = new byte[(1 + random.nextInt(Slot.PAGES)) * Range.PAGE];
            for (int at = 0; at < block.length;) {
                int piece = Math.min(block.length - at, (1 + random.nextInt(20)) * Range.PAGE);
                byte[] some = Content.values()[random.nextInt(Content.values().length)].bytes(random, piece);
                System.arraycopy(some, 0, block, at, piece);
                at += piece;
            }
            ways.merge(packed(block), 1, Integer::sum);
        }
        assertEquals(Codec.values().length, ways.size(), ways::toString);
    }

    /** Samples and trial say that the block compresses, and it does not. */
    @Test
    void deceivedItIsStoredAsItIs() {
        byte[] block = Content.NOISE.bytes(random, Slot.BYTES);
        for (int run = 0; run < BytePlanes.RUNS; run++) {
            java.util.Arrays.fill(block, run * Slot.BYTES / BytePlanes.RUNS,
                    run * Slot.BYTES / BytePlanes.RUNS + BytePlanes.RUN * Long.BYTES, (byte) 1);
        }
        Codec codec = packed(block);
        assertFalse(codec == Codec.ZSTD, codec::toString);
    }

    @ParameterizedTest
    @EnumSource(Manifest.Integrity.class)
    void imagesHoldAllOfThem(Manifest.Integrity integrity) throws IOException {
        for (WriterOptions options : List.of(Images.options(), Images.encrypted())) {
            FakeProcess process = new FakeProcess(7, random, 1, 1);
            long address = 1 << 30;
            for (Content content : Content.values()) {
                process.memory.put(address, content.bytes(random, (3 << 20) + 7 * Range.PAGE));
                address += 8 << 20;
            }
            Manifest manifest = Images.write(temp.resolve("c"), options.withForm(new ImageForm(integrity,
                    ImageForm.ADAPTIVE, false)), List.of(process));
            assertTrue(manifest.storedBytes() < manifest.bytes() * 2 / 3, manifest::toString);
            Images.assertHolds(temp.resolve("c").resolve("ckpt-000" + manifest.id()), List.of(process));
        }
    }
}
