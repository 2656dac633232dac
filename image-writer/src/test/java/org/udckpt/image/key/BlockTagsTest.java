package org.udckpt.image.key;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.image.Images;

/** Tags are what the standard says, and hold for these bytes, this nonce and this key only. */
@Timeout(60)
class BlockTagsTest {
    private static MemorySegment random(Arena arena, Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    }

    /** Test case 13 of the proposal to NIST (McGrew, Viega: AES-256, nothing encrypted, nothing authenticated). */
    @Test
    void theTagOfNothing() {
        byte[] seal = new byte[ImageCipher.SEAL_BYTES];
        for (boolean library : new boolean[]{true, false}) {
            new Gmac(new byte[32], library).tag(MemorySegment.ofArray(new byte[0]), 0, seal);
            assertArrayEquals(HexFormat.of().parseHex("00".repeat(12) + "530f8afbc74536b9a963b4f1c4cb738b"), seal);
        }
    }

    @Test
    void libcryptoAndTheJdkSayTheSame() {
        Random random = new Random(Images.seed("BlockTagsTest"));
        byte[] key = new byte[32];
        random.nextBytes(key);
        Gmac library = new Gmac(key, true);
        Gmac jdk = new Gmac(key, false);
        try (Arena arena = Arena.ofConfined()) {
            for (int length : new int[]{0, 1, 15, 16, 17, 4096, 4096 * 3, 1 << 20}) {
                MemorySegment bytes = random(arena, random, length);
                byte[] one = new byte[ImageCipher.SEAL_BYTES];
                random.nextBytes(one);
                byte[] other = one.clone();
                library.tag(bytes, length, one);
                jdk.tag(bytes, length, other);
                assertArrayEquals(one, other, length + " bytes");
            }
        }
    }

    @Test
    void noOtherBytesNonceSaltOrKeyFit() {
        Random random = new Random(Images.seed("BlockTagsTest.other"));
        BlockTags tags = BlockTags.fresh(Images.KEY);
        assertNotEquals(tags.salt(), BlockTags.fresh(Images.KEY).salt());
        BlockSealer again = BlockTags.of(tags.salt(), Images.KEY, 3).worker();
        byte[] otherKey = new byte[32];
        otherKey[31] = 1;
        BlockSealer foreign = BlockTags.of(tags.salt(), ImageKey.of(otherKey), 0).worker();
        BlockSealer salted = BlockTags.fresh(Images.KEY).worker();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = random(arena, random, 8192);
            byte[] seal = tags.worker().seal(bytes, 8192);
            assertTrue(again.open(bytes, 8192, seal));
            assertFalse(foreign.open(bytes, 8192, seal));
            assertFalse(salted.open(bytes, 8192, seal));
            for (int bit = 0; bit < 8 * seal.length; bit++) {
                byte[] bad = seal.clone();
                bad[bit / 8] ^= (byte) (1 << bit % 8);
                assertFalse(again.open(bytes, 8192, bad), "bit " + bit + " of the seal");
            }
            for (int i = 0; i < 200; i++) {
                int at = random.nextInt(8192);
                byte before = bytes.get(ValueLayout.JAVA_BYTE, at);
                bytes.set(ValueLayout.JAVA_BYTE, at, (byte) (before ^ 1 << random.nextInt(8)));
                assertFalse(again.open(bytes, 8192, seal), "byte " + at);
                bytes.set(ValueLayout.JAVA_BYTE, at, before);
            }
            assertFalse(again.open(bytes, 4096, seal));
        }
    }

    @Test
    void noNonceComesTwiceUnderOneSalt() {
        BlockTags first = BlockTags.fresh(Images.KEY);
        BlockTags second = BlockTags.of(first.salt(), Images.KEY, 1);
        Set<String> nonces = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            for (BlockTags tags : new BlockTags[]{first, second}) {
                assertTrue(
                        nonces.add(HexFormat.of().formatHex(Arrays.copyOf(tags.nextSeal(), ImageCipher.NONCE_BYTES))));
            }
        }
    }
}
