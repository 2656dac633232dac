package org.udckpt.image.block;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.udckpt.image.Images;
import org.udckpt.image.Range;

/** An image that was written with the C libraries is read where there are none, and the other way round. */
class HashesTest {
    @Test
    void bothKindsAgree() {
        assertTrue(NativeHashes.THERE, "libxxhash.so.0 and libcrypto.so.3 are not there (Debian: libxxhash0, libssl3)");
        Hashes c = new NativeHashes();
        Hashes java = new JavaHashes();
        Random random = new Random(Images.seed("HashesTest"));
        try (Arena arena = Arena.ofConfined()) {
            for (int pages : new int[]{1, 2, 7, 255, 256}) {
                byte[] content = new byte[pages * Range.PAGE];
                random.nextBytes(content);
                MemorySegment bytes = arena.allocate(content.length).copyFrom(MemorySegment.ofArray(content));
                assertEquals(java.xxh3(bytes, content.length), c.xxh3(bytes, content.length));
                assertArrayEquals(java.sha256(bytes, content.length), c.sha256(bytes, content.length));
                long[] one = new long[2 * pages];
                long[] other = new long[2 * pages];
                java.xxh3Pages(bytes, pages, one);
                c.xxh3Pages(bytes, pages, other);
                assertArrayEquals(one, other);
            }
        }
    }
}
