package org.udckpt.image.read;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.udckpt.image.ImageError;
import org.udckpt.image.Manifest;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Codec;
import org.udckpt.image.key.ImageCipher;

/** A table of blocks that breaks a rule of the format is refused even when its seal is right. */
@Timeout(60)
class BlockCheckTest {
    private static final byte[] DIGEST = new byte[32];
    private static final byte[] SEAL = new byte[ImageCipher.SEAL_BYTES];

    private static Block raw(int stripe, long offset, int length) {
        return new Block(stripe, offset, length, length, Codec.RAW, 1, DIGEST, null);
    }

    private static Block packed(int stripe, long offset, int length, int packed) {
        return new Block(stripe, offset, length, packed, Codec.ZSTD, 1, DIGEST, null);
    }

    /** Two stripes of 0x3000 and 0x1000 bytes. */
    private static List<Block> good() {
        return List.of(raw(0, 0, 0x2000), packed(0, 0x2000, 0x5000, 77), raw(1, 0, 0x1000));
    }

    private static Block planes(Block b) {
        return new Block(b.stripe(), b.offset(), b.length(), b.packed(), Codec.PLANES, b.checksum(), b.digest(),
                b.seal());
    }

    private static void check(List<Block> blocks, Manifest.Integrity integrity, boolean encrypted) throws ImageError {
        check(blocks, integrity, encrypted, Manifest.VERSION);
    }

    private static void check(List<Block> blocks, Manifest.Integrity integrity, boolean encrypted, int version)
            throws ImageError {
        Manifest manifest = new Manifest(version, 1, Instant.EPOCH, "x", integrity, null, 0, 0, 0, 0, 0, 0,
                encrypted ? new Manifest.Encryption(ImageCipher.NAME, "", "") : null, List.of(), new TreeMap<>(),
                List.of(), List.of());
        new BlockCheck(Path.of("blocks"), manifest, List.of(0x3000L, 0x1000L)).check(blocks);
    }

    @Test
    void aGoodTableIsTaken() throws Exception {
        check(good(), Manifest.Integrity.SHA256, false);
        List<Block> planes = good().stream().map(b -> b.codec() == Codec.ZSTD ? planes(b) : b).toList();
        check(planes, Manifest.Integrity.SHA256, false);
        assertThrows(ImageError.Corrupt.class,
                () -> check(planes, Manifest.Integrity.SHA256, false, Manifest.FIRST_WITH_PLANES - 1));
        List<Block> sealed = good().stream()
                .map(b -> new Block(b.stripe(), b.offset(), b.length(), b.packed(), b.codec(), 1, null, SEAL)).toList();
        check(sealed, Manifest.Integrity.SHA256, true);
        assertThrows(ImageError.Corrupt.class, () -> check(good(), Manifest.Integrity.SHA256, true));
        assertThrows(ImageError.Corrupt.class, () -> check(sealed, Manifest.Integrity.SHA256, false));
        assertThrows(ImageError.Corrupt.class, () -> check(good(), Manifest.Integrity.XXH3, false));
        List<Block> tagged = sealed.stream()
                .map(b -> new Block(b.stripe(), b.offset(), b.length(), b.packed(), b.codec(), 0, null, SEAL)).toList();
        check(tagged, Manifest.Integrity.GMAC, false);
        assertThrows(ImageError.Corrupt.class, () -> check(sealed, Manifest.Integrity.GMAC, false),
                "a checksum beside a tag");
        check(sealed, Manifest.Integrity.GMAC, true);
        assertThrows(ImageError.Corrupt.class, () -> check(good(), Manifest.Integrity.GMAC, false));
        assertThrows(ImageError.Corrupt.class,
                () -> check(
                        sealed.stream()
                                .map(b -> new Block(b.stripe(), b.offset(), b.length(), b.packed(), b.codec(), 0, null,
                                        new byte[12]))
                                .toList(),
                        Manifest.Integrity.GMAC, false));
        assertThrows(ImageError.Corrupt.class, () -> check(good().subList(0, 2), Manifest.Integrity.SHA256, false));
    }

    static Stream<Arguments> bad() {
        return Stream.of(
                Arguments.of("not whole pages", 0, raw(0, 0, 0x2001)),
                Arguments.of("no length", 0, raw(0, 0, 0)),
                Arguments.of("negative length", 0, raw(0, 0, -0x1000)),
                Arguments.of("too long", 1, packed(0, 0x2000, Block.MAX_LENGTH + 0x1000, 77)),
                Arguments.of("nothing packed", 1, packed(0, 0x2000, 0x5000, 0)),
                Arguments.of("packed to nothing less", 1, packed(0, 0x2000, 0x1000, 77)),
                Arguments.of("packed beyond an int", 1, packed(0, 0x2000, 0x5000, Integer.MAX_VALUE)),
                Arguments.of("planes to nothing less", 1, planes(packed(0, 0x2000, 0x1000, 77))),
                Arguments.of("planes beyond an int", 1, planes(packed(0, 0x2000, 0x5000, Integer.MAX_VALUE))),
                Arguments.of("raw, but packed", 0, new Block(0, 0, 0x3000, 0x2000, Codec.RAW, 1, DIGEST, null)),
                Arguments.of("no codec", 0, new Block(0, 0, 0x2000, 0x2000, null, 1, DIGEST, null)),
                Arguments.of("no such stripe", 2, raw(2, 0, 0x1000)),
                Arguments.of("negative stripe", 0, raw(-1, 0, 0x2000)),
                Arguments.of("gap in the file", 1, packed(0, 0x3000, 0x5000, 77)),
                Arguments.of("bytes used twice", 1, packed(0, 0, 0x5000, 77)),
                Arguments.of("beyond the file", 2, raw(1, 0, 0x2000)),
                Arguments.of("bytes not covered", 1, raw(1, 0, 0x1000)),
                Arguments.of("no digest", 0, new Block(0, 0, 0x2000, 0x2000, Codec.RAW, 1, null, null)),
                Arguments.of("half a digest", 0, new Block(0, 0, 0x2000, 0x2000, Codec.RAW, 1, new byte[16], null)));
    }

    /** Stored bytes that are negative as an int, made good by offsets that are. */
    @Test
    void noSumOfLiesIsTaken() {
        List<Block> blocks = new ArrayList<>(List.of(packed(0, 0, 0x5000, Integer.MAX_VALUE)));
        for (long at = Integer.MIN_VALUE; at < 0x3000; at += Math.min(1 << 20, 0x3000 - at)) {
            blocks.add(raw(0, at, (int) Math.min(1 << 20, 0x3000 - at)));
        }
        blocks.add(raw(1, 0, 0x1000));
        assertThrows(ImageError.Corrupt.class, () -> check(blocks, Manifest.Integrity.SHA256, false));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void bad(String what, int row, Block block) {
        List<Block> blocks = new ArrayList<>(good());
        blocks.set(row, block);
        assertTrue(assertThrows(ImageError.Corrupt.class, () -> check(blocks, Manifest.Integrity.SHA256, false))
                .getMessage().startsWith("blocks: block "));
    }
}
