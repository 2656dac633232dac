package org.udckpt.bench.application;

import java.util.Locale;

/** The events of an application's run. */
enum TrialMode {
    /** None; the others are compared with this run's answer. */
    PLAIN,
    /** Two checkpoints, and it goes on each time. */
    CHECKPOINT,
    /**
     * A checkpoint, {@code kill -9} of everything, a restart on other addresses; and all of that a second time, of the
     * restarted job.
     */
    RESTART;

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
