package org.udckpt.linux;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Names as the kernel has them, which are bytes: of files, sockets, processes, variables. The JDK makes U+FFFD of what
 * is not UTF-8. Here each such byte becomes one lone low surrogate, U+DC80 to U+DCFF, which no UTF-8 gives, and comes
 * back as that byte (the same code as Python's "surrogateescape", PEP 383).
 */
public final class RawText {
    private static final char ESCAPE = 0xDC00;
    /** What the JDK makes of a byte that is not UTF-8. */
    private static final char REPLACEMENT = '\uFFFD';
    /** A code point that Unicode leaves to programs; it is in no text, and begins an escape in {@link #portable}. */
    private static final char MARK = '\uFDD0';

    private RawText() {}

    /** The text of these bytes; {@link #encode} gives them back. */
    public static String decode(byte[] bytes) {
        return decode(bytes, 0, bytes.length);
    }

    /** As {@link #decode(byte[])}, of a part. */
    public static String decode(byte[] bytes, int from, int length) {
        String text = new String(bytes, from, length, StandardCharsets.UTF_8);
        return text.indexOf(REPLACEMENT) < 0 ? text : decodeEach(ByteBuffer.wrap(bytes, from, length));
    }

    private static String decodeEach(ByteBuffer bytes) {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        CharBuffer text = CharBuffer.allocate(bytes.remaining() + 1);
        while (true) {
            CoderResult result = decoder.decode(bytes, text, true);
            if (result.isUnderflow()) {
                return text.flip().toString();
            }
            for (int i = 0; i < result.length(); i++) { // malformed: there is room for a character a byte
                text.put((char) (ESCAPE | bytes.get() & 0xff));
            }
        }
    }

    /** The bytes that {@link #decode(byte[])} was given. */
    public static byte[] encode(String text) {
        if (!isRaw(text)) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        text.codePoints().forEach(point -> {
            if (isEscape(point)) {
                bytes.write(point & 0xff);
            } else {
                bytes.writeBytes(Character.toString(point).getBytes(StandardCharsets.UTF_8));
            }
        });
        return bytes.toByteArray();
    }

    private static boolean isEscape(int point) {
        return point >= ESCAPE + 0x80 && point <= ESCAPE + 0xff;
    }

    /** Whether some of it is not UTF-8. */
    public static boolean isRaw(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (isEscape(text.charAt(i)) && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)))) {
                return true;
            }
        }
        return false;
    }

    /** For people and for files of text: what is not UTF-8 as U+FFFD. */
    public static String shown(String text) {
        return text.codePoints().map(point -> isEscape(point) ? REPLACEMENT : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
    }

    /**
     * The same as text that every program takes for text, and that {@link #ofPortable} reads: an escaped byte is U+FDD0
     * and two hexadecimal digits, U+FDD0 itself is doubled.
     */
    public static String portable(String text) {
        if (!isRaw(text) && text.indexOf(MARK) < 0) {
            return text;
        }
        StringBuilder portable = new StringBuilder();
        text.codePoints().forEach(point -> {
            if (isEscape(point)) {
                portable.append(MARK).append(HexFormat.of().toHexDigits((byte) point));
            } else {
                portable.append(point == MARK ? String.valueOf(MARK) : "").appendCodePoint(point);
            }
        });
        return portable.toString();
    }

    /** What {@link #portable} was given; a mark that begins no escape is itself. */
    public static String ofPortable(String portable) {
        int mark = portable.indexOf(MARK);
        if (mark < 0) {
            return portable;
        }
        StringBuilder text = new StringBuilder();
        int at = 0;
        for (; mark >= 0; mark = portable.indexOf(MARK, at)) {
            text.append(portable, at, mark);
            int escaped = escaped(portable, mark + 1);
            text.append(escaped < 0 ? MARK : (char) (ESCAPE | escaped));
            boolean doubled = escaped < 0 && mark + 1 < portable.length() && portable.charAt(mark + 1) == MARK;
            at = mark + (escaped >= 0 ? 3 : doubled ? 2 : 1);
        }
        return text.append(portable, at, portable.length()).toString();
    }

    /** The byte whose digits are at {@code at}; -1: there is none that has to be escaped. */
    private static int escaped(String portable, int at) {
        if (at + 2 > portable.length() || !HexFormat.isHexDigit(portable.charAt(at))
                || !HexFormat.isHexDigit(portable.charAt(at + 1))) {
            return -1;
        }
        int value = HexFormat.fromHexDigits(portable, at, at + 2);
        return value < 0x80 ? -1 : value;
    }
}
