package org.udckpt.bench;

import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.udckpt.bench.workload.Tolerance;

/**
 * A program to demonstrate with.
 *
 * @param name of the demonstration
 * @param command program and arguments
 * @param environment that it needs
 * @param progress lines of its output that show that it computes
 * @param checkpointAfter number of such lines after which the checkpoint is taken
 * @param answer lines that have to be equal in every run
 * @param tolerance none: equal bit for bit; else how far the numbers of a line may be off, because the
 *     application itself does not add in a fixed order
 */
record Application(
        String name, List<String> command, Map<String, String> environment,
        Predicate<String> progress, int checkpointAfter, Predicate<String> answer, Tolerance tolerance) {

    /** The lines of the answer in the order in which they were printed. */
    List<String> answerIn(List<String> lines) {
        return lines.stream().filter(answer).toList();
    }

    boolean sameAnswer(String expected, String got) {
        return tolerance.sameLine(expected, got);
    }
}
