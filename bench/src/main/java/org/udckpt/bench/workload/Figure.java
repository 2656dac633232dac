package org.udckpt.bench.workload;

import java.util.List;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number by which an application rates its own run: what is compared where the run's time says nothing, because the
 * application runs for a set time or measures a part of it only.
 *
 * @param isRate more of it is better; else it is a time
 * @param unit of the number
 * @param pattern its first group is the number; the last line that has it counts
 */
public record Figure(boolean isRate, String unit, Pattern pattern) {

    /** Empty when the output does not show it. */
    public OptionalDouble in(List<String> output) {
        OptionalDouble last = OptionalDouble.empty();
        for (String line : output) {
            Matcher found = pattern.matcher(line);
            if (found.find()) {
                last = OptionalDouble.of(Double.parseDouble(found.group(1)));
            }
        }
        return last;
    }
}
