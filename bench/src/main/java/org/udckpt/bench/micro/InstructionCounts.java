package org.udckpt.bench.micro;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The tables of instructions that bench/overhead prints: of each row those that virtualization, or a tag, adds. Its
 * tables of times are left out.
 */
final class InstructionCounts {
    private static final Pattern SECTION = Pattern.compile("(\\S[^:]*): user-space instructions .*");
    private static final Pattern ROW = Pattern.compile("(\\S.*?) +[\\d.]+ +[\\d.]+ +([-+][\\d.]+) +[-+][\\d.]+%");

    private InstructionCounts() {}

    static List<Score> of(List<String> lines) {
        List<Score> scores = new ArrayList<>();
        String section = null;
        for (String line : lines) {
            Matcher title = SECTION.matcher(line);
            Matcher row = ROW.matcher(line);
            if (title.matches()) {
                section = title.group(1);
            } else if (!row.matches()) {
                section = isTitle(line) ? null : section;
            } else if (section != null) {
                scores.add(new Score((section + ": " + row.group(1)).replace(",", ""), Double.parseDouble(row.group(2)),
                        0, Score.INSTRUCTIONS));
            }
        }
        return scores;
    }

    /** The line above a table; that with its columns' names begins with spaces. */
    private static boolean isTitle(String line) {
        return !line.isBlank() && !line.startsWith(" ");
    }
}
