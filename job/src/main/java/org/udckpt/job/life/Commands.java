package org.udckpt.job.life;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;
import java.util.OptionalInt;
import org.udckpt.job.agent.Job;
import org.udckpt.job.checkpoint.CheckpointQueue;
import org.udckpt.job.command.CommandServer;
import org.udckpt.job.report.Failure;
import org.udckpt.job.tiers.Drain;

/** What other udckpt commands can ask of a running job. */
final class Commands implements CommandServer.Handler {
    private static final long KILL_SECONDS = 30;

    private final Job job;
    private final CheckpointQueue checkpoints;
    private final Optional<Drain> drain;

    Commands(Job job, CheckpointQueue checkpoints, Optional<Drain> drain) {
        this.drain = drain;
        this.job = job;
        this.checkpoints = checkpoints;
    }

    @Override
    public String checkpoint(CommandServer.Progress progress, boolean wait, OptionalInt end) {
        if (end.isEmpty()) {
            return checkpoints.take(progress, wait);
        }
        String id = checkpoints.takeLast(progress, () -> job.end(end.getAsInt()));
        awaitEnd(progress);
        return id;
    }

    private void awaitEnd(CommandServer.Progress progress) {
        try {
            if (!job.ranks().await(KILL_SECONDS)) {
                progress.say("the checkpoint is durable, but ranks are still there " + KILL_SECONDS + " s after SIGKILL");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Failure.of("waiting for the ranks' end", e);
        }
    }

    @Override
    public ObjectNode status() {
        return StatusReport.of(job, checkpoints, drain);
    }
}
