package org.udckpt.bench.application;

import java.util.Locale;

/** What is done to an application while it runs. */
enum TrialMode {
    /** Nothing; its answer is what the others are compared with. */
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
