package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.util.Optional;
import org.udckpt.agent.command.CommandServer.Progress;
import org.udckpt.image.write.Phase;
import org.udckpt.support.report.WriteProgress;

/**
 * How a job takes one checkpoint: on one host its agent does ({@link LocalCheckpoints}), on several their agents agree
 * ({@link CoordinatedCheckpoints}). {@link CheckpointQueue} calls it for one checkpoint at a time.
 */
public interface CheckpointMethod {
    /** Whether all of the job is there to be saved. From any thread. */
    boolean possible();

    /** The phase of the checkpoint under way; null: none is. From any thread. */
    Phase phase();

    /** How much of the image has been written; empty while none is being written. From any thread. */
    Optional<WriteProgress> writing();

    /** Statistics of all checkpoints of this run of the job. */
    RunStatistics statistics();

    /** Waits until the job's memory is complete: a restarted job may still be reading it. */
    void awaitReady(Progress progress) throws InterruptedException;

    /**
     * Stops the job and copies it. Returns when it runs again. When this throws, the job runs, and nothing is left of
     * the checkpoint.
     */
    CheckpointAttempt begin(Progress progress, StopOptions stop) throws IOException, InterruptedException;

    /** Whether another attempt may succeed after one that has failed so. */
    boolean retryable(Exception failure);

    /** No checkpoint is under way any more. */
    void idle();

    /** The job has ended: a checkpoint that can no longer become complete fails soon. */
    void jobEnded();

    /** No checkpoint follows. */
    void close();
}
