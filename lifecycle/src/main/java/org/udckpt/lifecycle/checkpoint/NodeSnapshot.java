package org.udckpt.lifecycle.checkpoint;

import java.time.Instant;
import java.util.List;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.launch.LaunchMode;
import org.udckpt.process.capture.Capture;
import org.udckpt.store.NodeState;
import org.udckpt.store.RankRow;
import org.udckpt.ud.RankNumbers;

/**
 * The job as it was at the stop: snapshots of its processes, and the agent's own state.
 *
 * @param numbered the processes that had a verbs device
 * @param cuda what was suspended, which runs again by the time that the image is complete
 * @param session whose ranks stand still until this is closed, or ended; null: they run, or somebody else has it
 */
record NodeSnapshot(Capture capture, NodeState state, List<RankNumbers.Rank> numbered, Instant takenAt,
        List<PhaseTime> times, CudaSuspension cuda, QuiesceSession session) implements AutoCloseable {
    /** Which of its processes are ranks. */
    List<RankRow> ranks(LaunchMode launch) {
        return RankRow.of(launch, capture.image().processes(), numbered);
    }

    /** The same, with the times of the stop, which are known when it is over. */
    NodeSnapshot withTimes(List<PhaseTime> measured) {
        return new NodeSnapshot(capture, state, numbered, takenAt, measured, cuda, session);
    }

    /** The same, of ranks that stand still. */
    NodeSnapshot standing(QuiesceSession still) {
        still.endRealTime();
        return new NodeSnapshot(capture, state, numbered, takenAt, times, cuda, still);
    }

    /** The ranks, which stand still, do nothing any more. */
    void end() {
        capture.end();
        if (session != null) {
            session.over();
        }
    }

    /** Ranks that stand still go on, if they were not ended. */
    @Override
    public void close() {
        try {
            capture.close();
        } finally {
            if (session != null) {
                session.close();
            }
        }
    }
}
