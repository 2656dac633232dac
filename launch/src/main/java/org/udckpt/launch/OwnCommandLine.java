package org.udckpt.launch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Proc;
import org.udckpt.linux.RawText;

/** Arguments and variables of this process, which are bytes, as {@link RawText}. */
public final class OwnCommandLine {
    private OwnCommandLine() {}

    /**
     * The words of this process's command line from the program's own arguments on.
     *
     * @param arguments as the JVM gives them to main
     */
    public static String[] arguments(String[] arguments) {
        List<String> words = texts("/proc/self/cmdline");
        if (words.size() < arguments.length) {
            throw new IllegalStateException("/proc/self/cmdline has " + words.size() + " words, fewer than the "
                    + arguments.length + " arguments of the program");
        }
        return words.subList(words.size() - arguments.length, words.size()).toArray(String[]::new);
    }

    /** The variables that this process was started with; of two with one name the first, as getenv(3) has it. */
    public static Map<String, String> environment() {
        Map<String, String> variables = new LinkedHashMap<>();
        for (String entry : texts("/proc/self/environ")) {
            int equals = entry.indexOf('=', 1);
            if (equals > 0) {
                variables.putIfAbsent(entry.substring(0, equals), entry.substring(equals + 1));
            }
        }
        return variables;
    }

    private static List<String> texts(String file) {
        byte[] bytes = Proc.bytes(file);
        List<String> texts = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == 0) {
                texts.add(RawText.decode(bytes, start, i - start));
                start = i + 1;
            }
        }
        return texts;
    }
}
