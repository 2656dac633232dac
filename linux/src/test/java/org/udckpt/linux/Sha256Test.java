package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Both ways give the digest of FIPS 180-4, however the bytes come in. */
class Sha256Test {
    @Test
    void bothWaysAgreeInPartsOfAnySize() throws Exception {
        assertTrue(Sha256.Native.THERE, "this machine has libcrypto");
        byte[] bytes = new byte[1 << 18];
        new Random(11).nextBytes(bytes);
        byte[] expected = MessageDigest.getInstance("SHA-256").digest(bytes);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(bytes.length);
            all.copyFrom(MemorySegment.ofArray(bytes));
            for (Sha256 hash : List.of(new Sha256.Native(), new Sha256.Jdk())) {
                for (int part : new int[]{1000, 4096, bytes.length}) {
                    for (int at = 0; at < bytes.length; at += part) {
                        hash.add(all.asSlice(at, Math.min(part, bytes.length - at)));
                    }
                    assertArrayEquals(expected, hash.finish());
                }
                hash.add(arena.allocateFrom("abc").asSlice(0, 3));
                assertEquals("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                        HexFormat.of().formatHex(hash.finish()));
            }
        }
    }
}
