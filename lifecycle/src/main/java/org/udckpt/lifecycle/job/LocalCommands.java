package org.udckpt.lifecycle.job;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;
import java.util.OptionalInt;
import org.udckpt.agent.Job;
import org.udckpt.agent.command.CommandServer.Progress;
import org.udckpt.agent.command.JobCommands;
import org.udckpt.lifecycle.checkpoint.CheckpointQueue;
import org.udckpt.store.tiers.TierFlush;
import org.udckpt.support.report.Failure;

/** The commands of a job on one host. */
final class LocalCommands implements JobCommands.Whole {
    private static final long KILL_SECONDS = 30;

    private final Job job;
    private final CheckpointQueue checkpoints;
    private final Optional<TierFlush> flush;

    LocalCommands(Job job, CheckpointQueue checkpoints, Optional<TierFlush> flush) {
        this.flush = flush;
        this.job = job;
        this.checkpoints = checkpoints;
    }

    @Override
    public String checkpoint(Progress progress, boolean wait, OptionalInt end, boolean detachDebuggers) {
        if (end.isEmpty()) {
            return checkpoints.take(progress, wait, detachDebuggers);
        }
        String id = checkpoints.takeLast(progress, () -> job.end(end.getAsInt()), detachDebuggers);
        awaitEnd(progress);
        return id;
    }

    private void awaitEnd(Progress progress) {
        try {
            if (!job.ranks().await(KILL_SECONDS)) {
                progress.say("the checkpoint is durable, but ranks still run " + KILL_SECONDS + " s after SIGKILL");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of("waiting for the ranks' end", e);
        }
    }

    @Override
    public ObjectNode status() {
        return StatusReport.of(job, checkpoints, flush);
    }
}
