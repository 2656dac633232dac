package org.udckpt.support.report;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * UTF-8 on its way to a terminal, in which control characters are written out as {@code \}{@code u001b}: names of
 * files, programs and processes are somebody's choice, and a terminal that obeys them can be made to hide lines, to
 * change its title or to type. Lines and tabs stay. In JSON the written-out form says the same as the character.
 */
public final class PrintableStream extends OutputStream {
    private static final int ESCAPED = 0x20, DELETE = 0x7f, LAST_OF_C1 = 0x9f;

    private static PrintStream terminal;

    private final OutputStream out;
    /** The bytes of a character that has not all of them yet. */
    private final byte[] begun = new byte[4];
    private int have, wanted;

    PrintableStream(OutputStream out) {
        this.out = out;
    }

    /**
     * From here on {@link System#out} is one. What a job prints does not come through it: its processes have the
     * descriptor itself.
     */
    public static synchronized void install() {
        if (terminal == null) {
            terminal = System.out;
            System.setOut(new PrintStream(new PrintableStream(terminal), true, terminal.charset()));
        }
    }

    /** Standard output for a program's own words, of which a terminal is to obey some. */
    public static synchronized PrintStream plain() {
        return terminal == null ? System.out : terminal;
    }

    /**
     * Characters that change what is shown elsewhere: C0 and C1 (ECMA-48), and characters that turn the direction of a
     * line (UAX 9) or end it.
     */
    private static boolean obeyed(int character) {
        return character < ESCAPED && character != '\n' && character != '\t'
                || character >= DELETE && character <= LAST_OF_C1
                || character >= 0x202a && character <= 0x202e || character >= 0x2066 && character <= 0x2069
                || character == 0x2028 || character == 0x2029 || character == 0x200e || character == 0x200f
                || character == 0x061c;
    }

    /** A text in one line, of which a terminal obeys nothing. */
    public static String line(String text) {
        StringBuilder shown = new StringBuilder(text.length());
        text.codePoints().forEach(character -> {
            if (obeyed(character) || character == '\n' || character == '\t') {
                shown.append(form(character));
            } else {
                shown.appendCodePoint(character);
            }
        });
        return shown.toString();
    }

    private static String form(int character) {
        return "\\u%04x".formatted(character);
    }

    private static byte[] bytes(int character) {
        return form(character).getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public synchronized void write(int one) throws IOException {
        write(new byte[]{(byte) one}, 0, 1);
    }

    /** What goes on to the stream below goes in one piece, as it came. */
    @Override
    public synchronized void write(byte[] bytes, int offset, int length) throws IOException {
        if (have == 0 && isPlain(bytes, offset, length)) {
            out.write(bytes, offset, length);
            return;
        }
        ByteArrayOutputStream shown = new ByteArrayOutputStream(length + 16);
        for (int i = offset; i < offset + length; i++) {
            add(bytes[i], shown);
        }
        out.write(shown.toByteArray(), 0, shown.size());
    }

    private static boolean isPlain(byte[] bytes, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            if (bytes[i] < ESCAPED && bytes[i] != '\n' && bytes[i] != '\t' || bytes[i] == DELETE) {
                // bytes from 0x80 on are negative
                return false;
            }
        }
        return true;
    }

    private void add(byte one, ByteArrayOutputStream to) {
        if (have > 0 && (one & 0xc0) != 0x80) {
            // no character after all: a terminal shows that by itself, or takes each byte for one
            escapeBegun(to);
        }
        if (have == 0) {
            wanted = (one & 0x80) == 0 ? 1
                    : (one & 0xe0) == 0xc0 ? 2 : (one & 0xf0) == 0xe0 ? 3 : (one & 0xf8) == 0xf0 ? 4 : 0;
            if (wanted == 0) {
                to.writeBytes(bytes(one & 0xff));
                return;
            }
        }
        begun[have++] = one;
        if (have == wanted) {
            String character = new String(begun, 0, have, StandardCharsets.UTF_8);
            byte[] same = character.getBytes(StandardCharsets.UTF_8);
            if (obeyed(character.codePointAt(0)) || same.length != have) {
                to.writeBytes(bytes(character.codePointAt(0)));
            } else {
                to.write(begun, 0, have);
            }
            have = 0;
        }
    }

    private void escapeBegun(ByteArrayOutputStream to) {
        for (int i = 0; i < have; i++) {
            to.writeBytes(bytes(begun[i] & 0xff));
        }
        have = 0;
    }

    @Override
    public synchronized void flush() throws IOException {
        out.flush();
    }
}
