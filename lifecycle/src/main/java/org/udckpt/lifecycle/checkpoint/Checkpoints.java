package org.udckpt.lifecycle.checkpoint;

import java.util.function.Consumer;
import org.udckpt.agent.command.CommandServer.Progress;

/** Takes a job's checkpoints, one at a time. */
public interface Checkpoints {
    /**
     * Takes a checkpoint.
     *
     * @param wait until it is durable; else until the job runs again
     * @param detachDebuggers {@link StopOptions#detachDebuggers}
     * @return its id
     * @throws org.udckpt.support.report.Failure 75 when one is under way already
     */
    String take(Progress progress, boolean wait, boolean detachDebuggers);

    /** As {@link #take(Progress, boolean, boolean)}; tracers are a reason to refuse. */
    default String take(Progress progress, boolean wait) {
        return take(progress, wait, false);
    }

    /**
     * Takes a checkpoint after which the job does nothing any more: its ranks stand still from the copy on until it is
     * durable, and then end where they stand, so that a restart does nothing a second time. When it throws they go on.
     *
     * @param end is told that it is durable, a moment before the ranks are killed: their end is wanted
     * @param detachDebuggers {@link StopOptions#detachDebuggers}
     * @return its id
     * @throws org.udckpt.support.report.Failure 75 when one is under way already
     */
    String takeLast(Progress progress, Runnable end, boolean detachDebuggers);

    /** As {@link #takeLast(Progress, Runnable, boolean)}; tracers are a reason to refuse. */
    default String takeLast(Progress progress, Runnable end) {
        return takeLast(progress, end, false);
    }

    /** Whether a checkpoint is under way, from its first moment to its last. */
    boolean busy();

    /** Whether all of the job is there to be saved: it has not ended, and is not being ended. */
    boolean possible();

    /** Hears of each checkpoint that is complete, before another one can begin. */
    void onTaken(Consumer<Taken> consumer);
}
