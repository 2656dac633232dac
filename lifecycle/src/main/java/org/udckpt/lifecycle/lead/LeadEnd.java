package org.udckpt.lifecycle.lead;

import java.util.BitSet;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.udckpt.cluster.NodeJob;
import org.udckpt.coordination.protocol.Coordinator;
import org.udckpt.lifecycle.checkpoint.CoordinatedCheckpoints;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Messages;

/**
 * The end of an incarnation of a job of several nodes, as its lead brings it about: whose ranks have ended, with which
 * code the job does, and whether an image that is being written is waited for. In the node's thread, but for
 * {@link #future}.
 */
final class LeadEnd {
    /** Runs once, before the agents are told to end. */
    @FunctionalInterface
    interface Before {
        /** @param orderly all ranks have ended by themselves */
        void end(boolean orderly, long now);
    }

    private final NodeJob job;
    private final CoordinatedCheckpoints checkpoints;
    private final Supplier<Coordinator> coordinator;
    private final Before before;
    private final BitSet units = new BitSet();
    private final EndCodes codes = new EndCodes();
    private final CompletableFuture<Integer> code = new CompletableFuture<>();
    private boolean begun;
    private boolean afterCheckpoint;

    /** @param coordinator there when anything is called */
    LeadEnd(NodeJob job, CoordinatedCheckpoints checkpoints, Supplier<Coordinator> coordinator, Before before) {
        this.job = job;
        this.checkpoints = checkpoints;
        this.coordinator = coordinator;
        this.before = before;
    }

    /** The job's exit code, when all ranks have ended on all hosts. Any thread. */
    CompletableFuture<Integer> future() {
        return code;
    }

    /** The agents have been told to end. */
    boolean begun() {
        return begun;
    }

    /** Whether a unit has said that its ranks have ended. */
    boolean has(int unit) {
        return units.get(unit);
    }

    boolean hasAll(Collection<Integer> some) {
        return some.stream().allMatch(units::get);
    }

    private boolean hasAll() {
        return units.cardinality() == job.units().size();
    }

    /** The first reason is the cause of the others. */
    void decide(int reason) {
        codes.decide(reason);
    }

    /** A unit's ranks have ended. */
    void ended(int unit, int unitsCode, long now) {
        codes.ended(unitsCode);
        units.set(unit);
        checkpoints.impossible("ranks have ended: it is too late for a checkpoint");
        if (hasAll()) {
            orderly(now);
        }
    }

    /** The job ends by itself: an image that is being written is waited for, since the copies are made. */
    void orderly(long now) {
        if (checkpoints.isWriting() && coordinator.get().isBusy() && !begun) { // else nobody would tell of its end
            afterCheckpoint = true;
            checkpoints.impossible("the job has ended");
        } else {
            atOnce(now);
        }
    }

    /** A checkpoint is over, one way or the other. */
    void checkpointEnded(long now) {
        if (afterCheckpoint) {
            atOnce(now);
        }
    }

    /** All ranks, on all hosts. */
    void atOnce(long now) {
        if (!begun) {
            begun = true;
            before.end(hasAll(), now);
            checkpoints.impossible("the job is being ended");
            coordinator.get().end(now);
        }
    }

    /** MPI has no way to go on without some of its ranks. */
    void because(String why, long now) {
        if (!begun) {
            Messages.error(why + "; ending the job", null);
        }
        decide(ExitCode.IO.value());
        atOnce(now);
    }

    /** All agents have said what they had to. */
    void complete() {
        code.complete(codes.code());
    }
}
