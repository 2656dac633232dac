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
 */
record Frozen(Capture capture, NodeState state, List<RankNumbers.Rank> numbered, Instant takenAt, List<PhaseTime> times) implements AutoCloseable {
    /** Which of its processes are ranks. */
    List<RankRow> ranks(Launch launch) {
        return RankRow.of(launch, capture.image().processes(), numbered);
    }

    /** The same, with the times of the stop, which are known when it is over. */
    Frozen withTimes(List<PhaseTime> measured) {
        return new Frozen(capture, state, numbered, takenAt, measured);
    }

    @Override
    public void close() {
        capture.close();
    }
}
