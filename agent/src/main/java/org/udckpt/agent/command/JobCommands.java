package org.udckpt.agent.command;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.OptionalInt;
import org.udckpt.agent.command.CommandServer.Progress;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * The requests that a running job answers over its command.sock. {@link #answer} alone decides which verbs each kind of
 * job answers.
 */
public sealed interface JobCommands {
    /** The job's part of {@code status --json}: one element of "jobs", without counters. */
    ObjectNode status();

    /** Of a whole job: on one host, or the lead of a job of several hosts. */
    non-sealed interface Whole extends JobCommands {
        /**
         * Takes a checkpoint.
         *
         * @param progress hears what happened, while it happens
         * @param wait until durable; else until the job runs again
         * @param end ends the job after the commit, with this code; empty: it goes on
         * @param detachDebuggers tracers that are processes of the job let go of what they trace; else they are a
         *     reason to refuse
         * @return the checkpoint's id
         */
        String checkpoint(Progress progress, boolean wait, OptionalInt end, boolean detachDebuggers);
    }

    /** Of a unit: the part of a job of several hosts that runs on one of them. */
    non-sealed interface OfUnit extends JobCommands {
        /** The unit's own name. */
        String name();

        /** The name of the job that it is a part of. */
        String job();
    }

    /**
     * Carries out a request.
     *
     * @param answer receives what the verb returns
     * @throws Failure USAGE: this kind of job does not answer the verb, or no job does
     */
    default void answer(CommandRequest request, Progress progress, ObjectNode answer) {
        switch (request.verb()) {
            case "checkpoint" -> {
                switch (this) {
                    case Whole job -> answer.put("id", job.checkpoint(progress, request.durable(),
                            request.end(), request.detachDebuggers()));
                    case OfUnit unit -> throw new Failure(ExitCode.USAGE,
                            unit.name() + " is a part of job " + unit.job()
                                    + ": take checkpoints on the host where the job was started ('udckpt checkpoint "
                                    + unit.job() + "')");
                }
            }
            case "status" -> answer.set("job", status());
            default -> throw new Failure(ExitCode.USAGE, "the agent does not know the command '"
                    + request.verb() + "'");
        }
    }
}
