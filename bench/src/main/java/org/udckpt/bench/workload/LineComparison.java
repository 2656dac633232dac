package org.udckpt.bench.workload;

import java.util.List;

/**
 * Lines of two runs, of which the second may have begun in the middle.
 *
 * @param tolerance by which decimal numbers may be off; none: the lines have to be equal
 */
record LineComparison(Tolerance tolerance) {
    /** {@code got} has to be the end of {@code expected}; neither is empty. */
    Judgement of(List<String> expected, List<String> got) {
        if (got.size() > expected.size()) {
            return Judgement
                    .wrong(got.size() + " lines are an answer, and " + expected.size() + " of the undisturbed run's");
        }
        List<String> end = expected.subList(expected.size() - got.size(), expected.size());
        for (int i = 0; i < got.size(); i++) {
            if (!tolerance.sameLine(end.get(i), got.get(i))) {
                return Judgement.wrong("'" + got.get(i).strip() + "' should be '" + end.get(i).strip() + "'");
            }
        }
        return Judgement.right("%d of %d lines %s".formatted(got.size(), expected.size(),
                end.equals(got) ? "bit for bit" : "within " + tolerance));
    }
}
