package org.udckpt.coordination.protocol;

/** The ranks of one node and their part of the image, as the protocol sees them. */
public interface Ranks {
    /**
     * Begins what {@link Op} says and returns at once; its end is told by {@link Participant#done}. One thing at a
     * time, but for ABORT and END, which may come in the middle of anything: what was under way ends then, and is not
     * told.
     */
    void begin(Request request, long now);

    /**
     * The node has lost the coordinator, for good. Whether the ranks go on without checkpoints or end is the node's
     * rule; an ABORT was begun before if they were stopped. A part that was durable must be kept until it is known
     * whether a manifest names it.
     *
     * @param inDoubt number of the checkpoint of which the node does not know whether it was committed; 0 if there is
     *     none
     */
    void over(String why, long inDoubt, long now);
}
