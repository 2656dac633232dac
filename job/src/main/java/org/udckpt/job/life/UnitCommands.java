package org.udckpt.job.life;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.OptionalInt;
import org.udckpt.job.agent.Job;
import org.udckpt.job.checkpoint.UnitCheckpoints;
import org.udckpt.job.command.CommandServer;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;

/** What other udckpt commands can ask of a unit of a job of several nodes, on its host. */
record UnitCommands(Job job, UnitCheckpoints checkpoints) implements CommandServer.Handler {
    @Override
    public String checkpoint(CommandServer.Progress progress, boolean wait, OptionalInt end) {
        throw new Failure(ExitCode.USAGE, job.runtime().name() + " is a part of job " + job.facts().name() + ": ask for its checkpoints where it was started ('udckpt checkpoint "
                + job.facts().name() + "')");
    }

    @Override
    public ObjectNode status() {
        return StatusReport.of(job, checkpoints);
    }
}
