package org.udckpt.launch.pmi;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;

/**
 * A line of the PMI-1 wire protocol: {@code cmd=NAME key=value key=value}; a value ends at the next space, but a
 * message (of an abort; MPICH 4.2) at the end of the line.
 *
 * @param command the value of cmd, or of mcmd
 * @param arguments the others, in order
 * @param multiLine it began a block that goes on, one pair a line, until {@code endcmd}
 */
public record PmiLine(String command, Map<String, String> arguments, boolean multiLine) {
    private static final String MESSAGE = " message=";

    /** Reads a line; a word without '=' or a line without cmd is an error of the caller's program. */
    public static PmiLine parse(String line) throws PmiException {
        Map<String, String> pairs = new LinkedHashMap<>();
        int message = line.indexOf(MESSAGE);
        for (String word : (message < 0 ? line : line.substring(0, message)).strip().split(" +")) {
            int equals = word.indexOf('=');
            if (equals <= 0) {
                throw new PmiException("'" + word + "' is not key=value in PMI line '" + shorten(line) + "'");
            }
            pairs.put(word.substring(0, equals), word.substring(equals + 1));
        }
        if (message >= 0) {
            pairs.put("message", line.substring(message + MESSAGE.length()).strip());
        }
        String single = pairs.remove("cmd");
        String multi = pairs.remove("mcmd");
        if (single == null && multi == null) {
            throw new PmiException("no cmd in PMI line '" + shorten(line) + "'");
        }
        return new PmiLine(single != null ? single : multi, pairs, single == null);
    }

    /** The argument, or an error that names it. */
    public String need(String key) throws PmiException {
        String value = arguments.get(key);
        if (value == null) {
            throw new PmiException("PMI command '" + command + "' without " + key);
        }
        return value;
    }

    /** The line {@code cmd=command key=value ...} without its newline. */
    public static String format(String command, String... keysAndValues) {
        StringJoiner words = new StringJoiner(" ");
        words.add("cmd=" + command);
        for (int i = 0; i < keysAndValues.length; i += 2) {
            words.add(keysAndValues[i] + "=" + keysAndValues[i + 1]);
        }
        return words.toString();
    }

    private static String shorten(String line) {
        return line.length() <= 80 ? line : line.substring(0, 80) + "...";
    }
}
