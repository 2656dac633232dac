package org.udckpt.job.launch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.job.report.Failure;

/**
 * Arguments and variables as the kernel has them, which are bytes: the JDK makes U+FFFD of what is not UTF-8. Here each
 * such byte becomes one lone low surrogate, U+DC80 to U+DCFF, which no UTF-8 gives, and comes back as that byte (the
 * same code as Python's "surrogateescape", PEP 383).
 */
public final class RawText {
    private static final char ESCAPE = 0xDC00;

    private RawText() {}

    /**
     * The words of this process's command line from the program's own arguments on.
     *
     * @param arguments as the JVM gives them to main
     */
    public static String[] arguments(String[] arguments) {
        List<String> words = read(Path.of("/proc/self/cmdline"));
        if (words.size() < arguments.length) {
            throw new IllegalStateException("/proc/self/cmdline has " + words.size() + " words, fewer than the program's " + arguments.length + " arguments");
        }
        return words.subList(words.size() - arguments.length, words.size()).toArray(String[]::new);
    }

    /** The variables that this process was started with; of two with one name the first, as getenv(3) has it. */
    public static Map<String, String> environment() {
        Map<String, String> variables = new LinkedHashMap<>();
        for (String entry : read(Path.of("/proc/self/environ"))) {
            int equals = entry.indexOf('=', 1);
            if (equals > 0) {
                variables.putIfAbsent(entry.substring(0, equals), entry.substring(equals + 1));
            }
        }
        return variables;
    }

    private static List<String> read(Path file) {
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(file);
        } catch (IOException e) {
            throw Failure.of("reading " + file, e);
        }
        List<String> texts = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == 0) {
                texts.add(decode(ByteBuffer.wrap(bytes, start, i - start)));
                start = i + 1;
            }
        }
        return texts;
    }

    static String decode(ByteBuffer bytes) {
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

    /** The bytes that {@link #decode} was given. */
    static byte[] encode(String text) {
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

    /** For people and for files of text: what is not UTF-8 as U+FFFD. */
    public static String shown(String text) {
        return text.codePoints().map(point -> isEscape(point) ? 0xFFFD : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
    }
}
