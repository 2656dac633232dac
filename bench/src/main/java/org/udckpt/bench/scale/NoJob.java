package org.udckpt.bench.scale;

import org.udckpt.coordination.protocol.CheckpointOutcome;
import org.udckpt.coordination.protocol.CoordinatorListener;
import org.udckpt.coordination.tree.CallResult;

/** The listener of a coordinator that gets no requests. */
final class NoJob implements CoordinatorListener {
    @Override
    public void commit(long checkpoint, long now) {
        throw new IllegalStateException("checkpoint " + checkpoint + " was not asked for");
    }

    @Override
    public void ended(CheckpointOutcome outcome, long now) {
        throw new IllegalStateException(outcome + " was not asked for");
    }

    @Override
    public void started(CallResult tally, long now) {
        throw new IllegalStateException("an exchange was not asked for");
    }

    @Override
    public void jobEnded(CallResult tally, long now) {
        throw new IllegalStateException("an end was not asked for");
    }

    @Override
    public void lost(int node, long now) {
        throw new IllegalStateException("node " + node + " is lost, and all live");
    }
}
