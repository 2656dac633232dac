package org.udckpt.job.checkpoint;

import java.time.Instant;
import java.util.List;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.job.launch.Launch;
import org.udckpt.job.store.NodeState;
import org.udckpt.job.store.RankRow;
import org.udckpt.process.capture.Capture;
import org.udckpt.ud.RankNumbers;

/**
 * The job as it was at the stop: snapshots of its processes, and the agent's own state.
 *
 * @param numbered the processes that had a verbs device
 * @param halt whose ranks stand still until this is closed, or ended; null: they run, or somebody else has it
 */
record Frozen(Capture capture, NodeState state, List<RankNumbers.Rank> numbered, Instant takenAt, List<PhaseTime> times, Halt halt) implements AutoCloseable {
    /** Which of its processes are ranks. */
    List<RankRow> ranks(Launch launch) {
        return RankRow.of(launch, capture.image().processes(), numbered);
    }

    /** The same, with the times of the stop, which are known when it is over. */
    Frozen withTimes(List<PhaseTime> measured) {
        return new Frozen(capture, state, numbered, takenAt, measured, halt);
    }

    /** The same, of ranks that stand still. */
    Frozen standing(Halt still) {
        return new Frozen(capture, state, numbered, takenAt, times, still);
    }

    /** The ranks, which stand still, do nothing any more. */
    void end() {
        capture.end();
        if (halt != null) {
            halt.over();
        }
    }

    /** Ranks that stand still go on, if they were not ended. */
    @Override
    public void close() {
        try {
            capture.close();
        } finally {
            if (halt != null) {
                halt.close();
            }
        }
    }
}
