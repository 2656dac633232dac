package org.udckpt.job.checkpoint;

import java.util.function.Consumer;
import org.udckpt.job.command.CommandServer.Progress;

/** Takes a job's checkpoints, one at a time. */
public interface Checkpoints {
    /**
     * Takes a checkpoint.
     *
     * @param wait until it is durable; else until the job runs again
     * @return its id
     * @throws org.udckpt.job.report.Failure 75 when one is under way already
     */
    String take(Progress progress, boolean wait);

    /** Whether a checkpoint is under way, from its first moment to its last. */
    boolean busy();

    /** Whether all of the job is there to be saved: it has not ended, and is not being ended. */
    boolean possible();

    /** Hears of each checkpoint that is complete, before another one can begin. */
    void onTaken(Consumer<Taken> consumer);
}
