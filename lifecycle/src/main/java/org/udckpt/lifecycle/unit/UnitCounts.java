package org.udckpt.lifecycle.unit;

import org.udckpt.address.CountersFile.Counters;
import org.udckpt.agent.Job;
import org.udckpt.cluster.NodeCounts;
import org.udckpt.cluster.NodeThread;
import org.udckpt.coordination.lookup.Totals;
import org.udckpt.lifecycle.checkpoint.PeriodicTask;
import org.udckpt.lifecycle.checkpoint.UnitCheckpoints;

/**
 * Tells the lead what a unit's ranks have counted, and how far its part of an image is: each half second while one is
 * written, else each five.
 */
final class UnitCounts implements AutoCloseable {
    private static final long PERIOD_MS = 500;
    private static final int PERIODS_OF_REST = 10;

    private final Job job;
    private final UnitCheckpoints checkpoints;
    private final Totals totals;
    private final NodeThread thread;
    private final PeriodicTask ticker;
    private int rested = PERIODS_OF_REST;

    /** From now on. @param thread the node's, which {@code totals} is used in */
    UnitCounts(Job job, UnitCheckpoints checkpoints, Totals totals, NodeThread thread) {
        this.job = job;
        this.checkpoints = checkpoints;
        this.totals = totals;
        this.thread = thread;
        this.ticker = PeriodicTask.start(PERIOD_MS, this::tick);
    }

    private void tick() {
        var writing = checkpoints.writing();
        if (writing.isEmpty() && ++rested < PERIODS_OF_REST) {
            return;
        }
        rested = 0;
        long alive = job.jobRanks().all().stream().filter(rank -> rank.alive()).count();
        NodeCounts resting = NodeCounts.idle(alive, job.filling().missing(), Counters.sum(job.counted()));
        NodeCounts counts = writing.map(write -> resting.writing(write.checkpoint(), write.progress())).orElse(resting);
        thread.execute(now -> totals.tell(counts.encode(), now));
    }

    @Override
    public void close() {
        ticker.close();
    }
}
