package org.udckpt.bench.run;

import org.udckpt.bench.job.Cell;

/**
 * One measurement that is to be made.
 *
 * @param repeat from 1 on; those of a cell with the same number are a pair. 0, -1 and so on: warm-ups, of which nothing
 *     is kept
 */
record Trial(Cell cell, Mode mode, int repeat) {

    boolean isWarmUp() {
        return repeat <= 0;
    }

    /** Unique within a run, and the name of a file. */
    String id() {
        return cell.id() + "-" + cell.ranks() + "-" + mode.word().replace(' ', '-') + "-" + repeat;
    }

    /** For people. */
    String title() {
        return "%s, %d ranks, %s, %s, %s%s".formatted(cell.workload().name(), cell.ranks(), cell.launcher().word(),
                cell.transport().word(), mode.word(),
                isWarmUp() ? ", warm-up" : ", repeat " + repeat);
    }
}
