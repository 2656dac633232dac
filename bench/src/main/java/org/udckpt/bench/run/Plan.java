package org.udckpt.bench.run;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.udckpt.bench.job.Cell;

/**
 * The order of measurements. Each repeat takes all cells in an order of its own, and the modes of a cell one
 * right after the other, so that what is compared was measured under the same conditions; their order is shuffled too,
 * but for the restart, which comes last: where its checkpoint is to be depends on how long a run takes. Without a
 * warm-up the first mode of all is a cell's first run, for all other results are compared with its.
 *
 * @param seed of the order
 */
record Plan(List<Cell> cells, List<Mode> modes, int warmUps, int repeats, long seed) {

    List<Trial> trials() {
        Random random = new Random(seed);
        List<Trial> trials = new ArrayList<>();
        for (int i = 0; i < warmUps; i++) {
            int warmUp = -i;
            cells.forEach(cell -> trials.add(new Trial(cell, modes.getFirst(), warmUp)));
        }
        for (int repeat = 1; repeat <= repeats; repeat++) {
            for (Cell cell : shuffled(cells, random)) {
                List<Mode> order =
                        new ArrayList<>(shuffled(modes.stream().filter(mode -> !isRestarted(mode)).toList(), random));
                modes.stream().filter(Plan::isRestarted).forEach(order::add);
                if (repeat == 1 && warmUps == 0) {
                    order.remove(modes.getFirst());
                    order.addFirst(modes.getFirst());
                }
                for (Mode mode : order) {
                    trials.add(new Trial(cell, mode, repeat));
                }
            }
        }
        return trials;
    }

    /** These come last in a pair: where their checkpoints are to be depends on how long the others took. */
    private static boolean isRestarted(Mode mode) {
        return mode instanceof Mode.Restarted || mode instanceof Mode.PeerRestarted;
    }

    private static <T> List<T> shuffled(List<T> all, Random random) {
        List<T> shuffled = new ArrayList<>(all);
        Collections.shuffle(shuffled, random);
        return shuffled;
    }
}
