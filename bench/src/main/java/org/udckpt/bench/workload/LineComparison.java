package org.udckpt.bench.workload;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lines of two runs, of which the second may have begun in the middle.
 *
 * @param tolerance by which decimal numbers may be off; 0: none are looked at, the lines have to be equal
 */
record LineComparison(double tolerance) {
    private static final Pattern DECIMAL = Pattern.compile("[-+]?\\d*\\.\\d+(?:[eEdD][-+]?\\d+)?");

    /** {@code got} has to be the end of {@code expected}; neither is empty. */
    Judgement of(List<String> expected, List<String> got) {
        if (got.size() > expected.size()) {
            return Judgement.wrong(got.size() + " lines are an answer, and " + expected.size() + " of the undisturbed run's");
        }
        List<String> end = expected.subList(expected.size() - got.size(), expected.size());
        for (int i = 0; i < got.size(); i++) {
            if (!same(end.get(i), got.get(i))) {
                return Judgement.wrong("'" + got.get(i).strip() + "' should be '" + end.get(i).strip() + "'");
            }
        }
        return Judgement.right("%d of %d lines %s".formatted(got.size(), expected.size(), end.equals(got) ? "bit for bit" : "within " + tolerance));
    }

    private boolean same(String expected, String got) {
        return expected.equals(got) || tolerance > 0 && DECIMAL.matcher(expected).replaceAll("#").equals(DECIMAL.matcher(got).replaceAll("#")) && near(expected, got);
    }

    private boolean near(String expected, String got) {
        Matcher one = DECIMAL.matcher(expected);
        Matcher other = DECIMAL.matcher(got);
        while (one.find() && other.find()) {
            if (!(Math.abs(number(one) - number(other)) <= tolerance)) {
                return false;
            }
        }
        return true;
    }

    /** Fortran writes the exponent of a double as D. */
    private static double number(Matcher found) {
        return Double.parseDouble(found.group().replace('d', 'e').replace('D', 'e'));
    }
}
