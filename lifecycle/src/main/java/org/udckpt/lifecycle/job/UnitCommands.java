package org.udckpt.lifecycle.job;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.udckpt.agent.Job;
import org.udckpt.agent.command.JobCommands;
import org.udckpt.lifecycle.checkpoint.UnitCheckpoints;

/** The commands of a unit of a job of several hosts, on its host. */
record UnitCommands(Job unit, UnitCheckpoints checkpoints) implements JobCommands.OfUnit {
    @Override
    public String name() {
        return unit.runtime().name();
    }

    @Override
    public String job() {
        return unit.facts().name();
    }

    @Override
    public ObjectNode status() {
        return StatusReport.of(unit, checkpoints);
    }
}
