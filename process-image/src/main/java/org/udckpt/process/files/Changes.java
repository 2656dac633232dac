package org.udckpt.process.files;

import java.util.ArrayList;
import java.util.List;

/**
 * The names that a rollback changes, and what is to be told of each: changed, changed back, or left so, all together.
 */
final class Changes {
    private record Change(Step step, RolledBack report) {}

    private record Cut(Tail tail, RolledBack report) {}

    private final List<Change> changes = new ArrayList<>();
    private final List<Cut> cuts = new ArrayList<>();
    private final List<RolledBack> done = new ArrayList<>();
    private final List<String> leftovers = new ArrayList<>();

    /** To be done by {@link #swap}. */
    void add(Step step, RolledBack report) {
        changes.add(new Change(step, report));
    }

    /** To be kept by {@link #keepTails}. */
    void add(Tail tail, RolledBack report) {
        cuts.add(new Cut(tail, report));
    }

    /** Reports a change that another process makes. */
    void tell(RolledBack report) {
        done.add(report);
    }

    void swap() {
        changes.forEach(change -> change.step.swap());
    }

    /** Adds and carries out a change that could be known only after the others had been made. */
    void addDone(Step step, RolledBack report) {
        add(step, report);
        step.swap();
    }

    void keepTails() {
        cuts.forEach(cut -> cut.tail.keep());
    }

    /** Failures are added to {@code cause}; it can be called again. */
    void undo(Throwable cause) {
        changes.reversed().forEach(change -> attempt(change.step::undo, cause));
        cuts.forEach(cut -> attempt(cut.tail::undo, cause));
    }

    /** What was put aside stays, or is removed: where that fails it is a {@link #leftovers leftover}. */
    void commit(boolean keep) {
        for (Change change : changes) {
            if (!keep) {
                attemptToo(change.step::removeKept, change.step.kept());
            }
            done.add(change.report.keptAs(change.step.kept()));
        }
        cuts.forEach(cut -> done.add(cut.report.keptAs(cut.tail.path())));
    }

    /** Does what is not worth failing for any more. */
    void attemptToo(Runnable action, String path) {
        try {
            action.run();
        } catch (RuntimeException e) {
            leftovers.add(path + ": " + e.getMessage());
        }
    }

    /** Closes what was prepared, and removes what is not used. */
    void discard(Throwable cause) {
        changes.forEach(change -> attempt(change.step::discard, cause));
        cuts.forEach(cut -> attempt(cut.tail::close, cause));
    }

    static void attempt(Runnable action, Throwable cause) {
        try {
            action.run();
        } catch (RuntimeException e) {
            cause.addSuppressed(e);
        }
    }

    List<RolledBack> done() {
        return List.copyOf(done);
    }

    List<String> leftovers() {
        return List.copyOf(leftovers);
    }
}
