package org.udckpt.bench.scale;

import org.udckpt.job.coordinator.Outcome;
import org.udckpt.job.coordinator.Owner;
import org.udckpt.job.tree.Tally;

/** Of a coordinator that nobody asks for anything. */
final class NoJob implements Owner {
    @Override
    public void commit(long checkpoint, long now) {
        throw new IllegalStateException("checkpoint " + checkpoint + " was not asked for");
    }

    @Override
    public void ended(Outcome outcome, long now) {
        throw new IllegalStateException(outcome + " was not asked for");
    }

    @Override
    public void started(Tally tally, long now) {
        throw new IllegalStateException("an exchange was not asked for");
    }

    @Override
    public void jobEnded(Tally tally, long now) {
        throw new IllegalStateException("an end was not asked for");
    }

    @Override
    public void lost(int node, long now) {
        throw new IllegalStateException("node " + node + " is lost, and all live");
    }
}
