package org.udckpt.bench.micro;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The table that bench/fabric prints. */
final class FabricScores {
    private static final Pattern ROW =
            Pattern.compile("(\\S.*?) +(plain|virtualized) +([\\d.]+) +([\\d.]+) +([\\d.]+) +(us.*)");

    private FabricScores() {}

    /** The median of each row; its error is half of the distance between the least and the most. */
    static List<Score> of(List<String> lines) {
        List<Score> scores = new ArrayList<>();
        for (String line : lines) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                double spread = Double.parseDouble(row.group(5)) - Double.parseDouble(row.group(4));
                scores.add(new Score(row.group(1) + " (" + row.group(2) + ")", Double.parseDouble(row.group(3)),
                        spread / 2, row.group(6)));
            }
        }
        return scores;
    }
}
