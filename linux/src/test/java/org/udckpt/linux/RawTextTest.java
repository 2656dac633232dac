package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.udckpt.linux.RawText;

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
            assertArrayEquals(bytes, RawText.encode(RawText.decode(bytes)));
        }
    }

    @Test
    void utf8IsItself() {
        String text = "a\u00e9\u20ac\ud83d\ude00\ufffd";
        assertEquals(text, RawText.decode(text.getBytes(StandardCharsets.UTF_8)));
        assertEquals(text, RawText.shown(text));
    }

    /** A surrogate in UTF-8 is no character, and its bytes come one by one. */
    @Test
    void whatIsShown() {
        String text = RawText.decode(new byte[]{'x', (byte) 0xed, (byte) 0xb2, (byte) 0x80});
        assertEquals(4, text.length());
        assertEquals("x\ufffd\ufffd\ufffd", RawText.shown(text));
    }

    /** As a table holds it: text for every reader, and the same again for ours. */
    @Test
    void portableComesBack() {
        String raw = RawText.decode(new byte[]{'a', (byte) 0x80, (byte) 0xff, 'b'});
        assertEquals("a\ufdd080\ufdd0ffb", RawText.portable(raw));
        for (String text : new String[]{raw, "", "plain", "\u00e9\ud83d\ude00", "\ufdd0", "\ufdd0\ufdd0", "\ufdd080",
                raw + "\ufdd0ff" + raw}) {
            String portable = RawText.portable(text);
            assertFalse(RawText.isRaw(portable), portable);
            assertEquals(text, RawText.ofPortable(portable));
        }
        // In a table of somebody else's.
        for (String other : new String[]{"\ufdd0", "\ufdd0x", "\ufdd07f", "a\ufdd0"}) {
            assertEquals(other, RawText.ofPortable(other));
        }
    }

    /** U+10080 has the low surrogate of an escape, behind a high one. */
    @Test
    void aPairIsNoEscape() {
        String text = "\ud800\udc80";
        assertFalse(RawText.isRaw(text));
        assertArrayEquals(text.getBytes(StandardCharsets.UTF_8), RawText.encode(text));
        assertEquals(text, RawText.portable(text));
        assertTrue(RawText.isRaw("\udc80" + text) && RawText.isRaw(text + "\udc80"));
    }
}
