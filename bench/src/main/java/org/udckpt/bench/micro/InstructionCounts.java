package org.udckpt.bench.micro;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The tables that bench/overhead prints: of each row the instructions that virtualization adds. */
final class InstructionCounts {
    private static final Pattern SECTION = Pattern.compile("(\\S[^:]*): user-space instructions .*");
    private static final Pattern ROW = Pattern.compile("(\\S.*?) +[\\d.]+ +[\\d.]+ +([-+][\\d.]+) +[-+][\\d.]+%");

    private InstructionCounts() {}

    static List<Score> of(List<String> lines) {
        List<Score> scores = new ArrayList<>();
        String section = "";
        for (String line : lines) {
            Matcher title = SECTION.matcher(line);
            Matcher row = ROW.matcher(line);
            if (title.matches()) {
                section = title.group(1);
            } else if (row.matches()) {
                scores.add(new Score((section + ": " + row.group(1)).replace(",", ""), Double.parseDouble(row.group(2)), 0, Score.INSTRUCTIONS));
            }
        }
        return scores;
    }
}
