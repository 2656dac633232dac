package org.udckpt.job.checkpoint;

import java.time.Instant;
import java.util.List;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.job.store.JobState;
import org.udckpt.process.capture.Capture;

/** The job as it was at the stop: snapshots of its processes, and the agent's own state. */
record Frozen(Capture capture, JobState state, Instant takenAt, List<PhaseTime> times) implements AutoCloseable {
    @Override
    public void close() {
        capture.close();
    }
}
