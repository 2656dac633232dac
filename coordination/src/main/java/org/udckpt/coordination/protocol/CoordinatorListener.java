package org.udckpt.coordination.protocol;

import org.udckpt.coordination.tree.CallResult;

/** The job, which asked the coordinator for something, hears the results. */
public interface CoordinatorListener {
    /**
     * All parts are durable: write the manifest, and tell {@link Coordinator#manifest}. Begins and returns at once. The
     * coordinator knows that each node has answered WRITE, not what it wrote: the manifest is written only with a
     * report of each node, and not at all where one is missing.
     */
    void commit(long checkpoint, long now);

    /** One call has ended, in good or bad; what follows from it is told after this. */
    default void called(CheckpointOutcome.CallTime call, long now) {}

    /** A checkpoint has ended, one way or the other. Another may be begun. */
    void ended(CheckpointOutcome outcome, long now);

    /** What an incarnation begins with has ended. @param tally of the last step; with the failure, if there was one */
    void started(CallResult tally, long now);

    /** The nodes that are alive have ended their ranks; {@link CallResult#nodes} counts them. */
    void jobEnded(CallResult tally, long now);

    /**
     * A node is lost for good. A checkpoint that is under way is aborted without being asked; there will be no other in
     * this incarnation.
     */
    void lost(int node, long now);
}
