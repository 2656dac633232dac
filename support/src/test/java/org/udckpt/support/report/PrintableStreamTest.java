package org.udckpt.support.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a terminal would obey is written out, however the bytes come. */
class PrintableStreamTest {
    private static String through(byte[] bytes, Random pieces) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintableStream stream = new PrintableStream(out);
        for (int at = 0; at < bytes.length;) {
            int length = 1 + pieces.nextInt(bytes.length - at);
            stream.write(bytes, at, length);
            at += length;
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private static String through(String text) throws Exception {
        return through(text.getBytes(StandardCharsets.UTF_8), new Random(text.hashCode()));
    }

    @Test
    void textStays() throws Exception {
        String text = "Gr\u00f6\u00dfe\t\u4e2d \ud83d\ude80\nnext line \\u001b\n";
        for (int i = 0; i < 100; i++) {
            assertEquals(text, through(text.getBytes(StandardCharsets.UTF_8), new Random(i)));
        }
    }

    @Test
    void controlsAreWrittenOut() throws Exception {
        assertEquals("a\\u001b]0;title\\u0007b", through("a\u001b]0;title\u0007b"));
        assertEquals("\\u000d\\u0008\\u0000\\u007f", through("\r\b\0\u007f"));
        assertEquals("\\u009b31m", through("\u009b31m")); // CSI in one character
        assertEquals("\\u202eabc\\u2066\\u2028", through("\u202eabc\u2066\u2028"));
    }

    /** Terminals that are not set to UTF-8 obey the bytes from 0x80 on. */
    @Test
    void bytesThatAreNoCharactersAreWrittenOut() throws Exception {
        Random pieces = new Random(1);
        assertEquals("\\u009b2J", through(new byte[]{(byte) 0x9b, '2', 'J'}, pieces));
        assertEquals("\\u00c3x", through(new byte[]{(byte) 0xc3, 'x'}, pieces));
        assertEquals("\\u00e2\\u00c3x", through(new byte[]{(byte) 0xe2, (byte) 0xc3, 'x'}, pieces));
        assertEquals("\\ufffd", through(new byte[]{(byte) 0xc0, (byte) 0x9b}, pieces)); // overlong
    }

    /** Whatever comes: nothing of it is a control character. */
    @Test
    void anything() throws Exception {
        Random random = new Random(42);
        for (int round = 0; round < 2000; round++) {
            byte[] bytes = new byte[1 + random.nextInt(64)];
            random.nextBytes(bytes);
            String shown = through(bytes, random);
            assertFalse(shown.codePoints().anyMatch(c -> c < 0x20 && c != '\n' && c != '\t' || c >= 0x7f && c <= 0x9f),
                    shown);
        }
    }

    @Test
    void aNameIsOneLine() {
        assertEquals("sh\\u000audckpt: all is well\\u001b[8m",
                PrintableStream.line("sh\nudckpt: all is well\u001b[8m"));
    }
}
