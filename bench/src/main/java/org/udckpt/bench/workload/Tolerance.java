package org.udckpt.bench.workload;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * By how much the decimal numbers of an answer's line may be off.
 *
 * @param rules the last that is about a number counts; of a number that none is about nothing may differ
 */
public record Tolerance(List<Rule> rules) {
    private static final Pattern DECIMAL = Pattern.compile("[-+]?\\d*\\.\\d+(?:[eEdD][-+]?\\d+)?");

    public static final Tolerance NONE = new Tolerance(List.of());

    /**
     * @param absolute in the number's own unit
     * @param relative of the number that is expected, in addition
     * @param columns  of the decimal numbers of a line, from 1; empty: all
     */
    record Rule(double absolute, double relative, Set<Integer> columns) {
        /** @param text words of a description: ABSOLUTE [RELATIVE [COLUMN...]]; null: it is none */
        static Rule of(String text) {
            String[] words = text.strip().split("\\s+");
            try {
                double absolute = Double.parseDouble(words[0]);
                double relative = words.length > 1 ? Double.parseDouble(words[1]) : 0;
                Set<Integer> columns = new TreeSet<>();
                for (int i = 2; i < words.length; i++) {
                    columns.add(Integer.parseInt(words[i]));
                }
                boolean sound = absolute >= 0 && relative >= 0 && absolute + relative > 0
                        && absolute + relative < Double.POSITIVE_INFINITY && columns.stream().allMatch(one -> one > 0);
                return sound ? new Rule(absolute, relative, columns) : null;
            } catch (NumberFormatException e) {
                return null;
            }
        }

        boolean isAbout(int column) {
            return columns.isEmpty() || columns.contains(column);
        }

        @Override
        public String toString() {
            String amount = relative == 0 ? Double.toString(absolute)
                    : absolute == 0 ? relative + " of each number" : absolute + " and " + relative + " of each number";
            return columns.isEmpty() ? amount : amount + " in columns " + columns.toString().replaceAll("[\\[\\]]", "");
        }
    }

    /** The same for all numbers; 0: none may differ. */
    static Tolerance of(double absolute) {
        return absolute == 0 ? NONE : new Tolerance(List.of(new Rule(absolute, 0, Set.of())));
    }

    boolean isNone() {
        return rules.isEmpty();
    }

    /** Whether two lines are the same but for their decimal numbers, and these near enough. */
    public boolean sameLine(String expected, String got) {
        return expected.equals(got)
                || !isNone() && DECIMAL.matcher(expected).replaceAll("#").equals(DECIMAL.matcher(got).replaceAll("#"))
                        && near(expected, got);
    }

    private boolean near(String expected, String got) {
        Matcher one = DECIMAL.matcher(expected);
        Matcher other = DECIMAL.matcher(got);
        for (int column = 1; one.find() && other.find(); column++) {
            if (!covers(column, number(one), number(other))) {
                return false;
            }
        }
        return true;
    }

    /** Fortran writes the exponent of a double as D. */
    private static double number(Matcher found) {
        return Double.parseDouble(found.group().replace('d', 'e').replace('D', 'e'));
    }

    /** @param column of the decimal numbers of a line, from 1 */
    private boolean covers(int column, double expected, double got) {
        double most = rules.stream().filter(rule -> rule.isAbout(column)).reduce((_, last) -> last)
                .map(rule -> rule.absolute + rule.relative * Math.abs(expected)).orElse(0.0);
        return Math.abs(expected - got) <= most;
    }

    @Override
    public String toString() {
        return String.join(", ", rules.stream().map(Rule::toString).toList());
    }
}
