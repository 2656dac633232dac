package org.udckpt.bench.micro;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * New scores against committed ones. A time is worse when it is more than {@code threshold} above the old one, and when
 * that is more than both errors explain: so a noisy benchmark has to be much worse before it is said. A count of added
 * instructions is worse when there is one more. What is not measured any more is worse too: nobody would see it become
 * so.
 *
 * @param threshold as a part: 0.1 is 10%
 */
record ScoreComparison(double threshold) {
    private static final double COUNTED = 1;

    /** @param change from the committed one, in words */
    record Line(Score score, String change, boolean isWorse) {}

    List<Line> of(List<Score> now, List<Score> before) {
        List<Line> lines = new ArrayList<>();
        for (Score score : now) {
            Optional<Score> old = before.stream().filter(one -> one.name().equals(score.name())).findFirst();
            lines.add(old.map(one -> compared(score, one)).orElseGet(() -> new Line(score, "new", false)));
        }
        before.stream().filter(old -> now.stream().noneMatch(one -> one.name().equals(old.name())))
                .forEach(old -> lines.add(new Line(old, "not measured any more", true)));
        return lines;
    }

    private Line compared(Score now, Score before) {
        if (now.isCount()) {
            double more = now.value() - before.value();
            return new Line(now, String.format(Locale.ROOT, "%+.2f", more), more >= COUNTED);
        }
        boolean isWorse = now.value() > before.value() * (1 + threshold)
                && now.value() - now.error() > before.value() + before.error();
        return new Line(now, String.format(Locale.ROOT, "%+.1f%%", 100 * (now.value() / before.value() - 1)), isWorse);
    }
}
