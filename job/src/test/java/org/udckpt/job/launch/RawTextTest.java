package org.udckpt.job.launch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RawTextTest {
    @Test
    void everyByteComesBack() {
        long seed = System.nanoTime();
        System.out.println("RawTextTest seed " + seed);
        Random random = new Random(seed);
        byte[] utf8 = "a\u00e9\u20ac\ud83d\ude00".getBytes(StandardCharsets.UTF_8);
        for (int round = 0; round < 2000; round++) {
            byte[] bytes = new byte[random.nextInt(20)];
            for (int i = 0; i < bytes.length; i++) { // cut-off and whole characters, and bytes that are none
                bytes[i] = random.nextInt(3) == 0 ? (byte) random.nextInt(256) : utf8[(i + round) % utf8.length];
            }
            assertArrayEquals(bytes, RawText.encode(RawText.decode(ByteBuffer.wrap(bytes))));
        }
    }

    @Test
    void utf8IsItself() {
        String text = "a\u00e9\u20ac\ud83d\ude00\ufffd";
        assertEquals(text, RawText.decode(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8))));
        assertEquals(text, RawText.shown(text));
    }

    /** A surrogate in UTF-8 is no character, and its bytes come one by one. */
    @Test
    void whatIsShown() {
        String text = RawText.decode(ByteBuffer.wrap(new byte[] {'x', (byte) 0xed, (byte) 0xb2, (byte) 0x80}));
        assertEquals(4, text.length());
        assertEquals("x\ufffd\ufffd\ufffd", RawText.shown(text));
    }
}
