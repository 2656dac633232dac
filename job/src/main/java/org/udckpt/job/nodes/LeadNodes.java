package org.udckpt.job.nodes;

import org.udckpt.job.config.Settings;
import org.udckpt.job.tree.Timing;

/** The lead's side of a job on several hosts: its agents and its own node. */
public final class LeadNodes implements AutoCloseable {
    private LeadNodes() {}

    /**
     * Starts the agents, and returns when all have come and know of each other. The part may begin things then.
     *
     * @param settings checked; agents get those that were given
     * @param timing   of the tree
     * @throws org.udckpt.job.report.Failure naming host and command, when an agent cannot be started or does not come in time; nothing is left then
     */
    public static LeadNodes start(Settings settings, Starter starter, NodeJob job, Timing timing, LeadPart part) throws InterruptedException {
        throw new IllegalStateException();
    }

    /** The lead's own. */
    public NodeHandle node() {
        throw new IllegalStateException();
    }

    /**
     * Tells all agents that it is over ({@code coordinator().end} before, for a job whose ranks should end in order), waits for their processes,
     * kills what does not end, and closes the lead's node. What they had printed has been printed then.
     */
    @Override
    public void close() {
        throw new IllegalStateException();
    }
}
