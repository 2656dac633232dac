package org.udckpt.bench.micro;

import java.util.List;
import java.util.Optional;

/**
 * New scores against committed ones. A score is worse when it is more than {@code threshold} above the old one, and when that is
 * more than both errors explain: so a noisy benchmark has to be much worse before it is said.
 *
 * @param threshold as a part: 0.1 is 10%
 */
record Comparison(double threshold) {
    private static final double COUNTED = 0.005; // instructions do not depend on the load, but on the linker's and the loader's choices a little

    /** @param before null: there was none of that name */
    record Line(Score now, Score before, boolean isWorse) {
        /** By how much more, as a part. */
        double change() {
            return now.value() / before.value() - 1;
        }
    }

    List<Line> of(List<Score> now, List<Score> before) {
        return now.stream().map(score -> {
            Optional<Score> old = before.stream().filter(one -> one.name().equals(score.name())).findFirst();
            return new Line(score, old.orElse(null), old.filter(one -> isWorse(score, one)).isPresent());
        }).toList();
    }

    private boolean isWorse(Score now, Score before) {
        double allowed = now.isCount() ? COUNTED : threshold;
        return now.value() > before.value() * (1 + allowed) && now.value() - now.error() > before.value() + before.error();
    }
}
