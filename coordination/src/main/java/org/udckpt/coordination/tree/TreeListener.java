package org.udckpt.coordination.tree;

/**
 * What stands above a {@link TreeNode}: the node's own part in calls, and the parts that post messages to neighbours.
 * Called by the member.
 */
public interface TreeListener {
    /**
     * The node's own work of a call is to be done; the answer is {@link TreeNode#answer}, now or later. A later call
     * ends this one: its answer is not waited for any more.
     */
    void call(Call call, long now);

    /** At the root: the call that was begun by {@link TreeNode#call} has ended. A newer call may be begun. */
    void ended(Call call, CallResult tally, long now);

    /**
     * A message of a neighbour's {@link TreeNode#post}, in order and once.
     *
     * @throws MalformedMessage if no part of this job would have sent it
     */
    void received(int from, byte[] body, long now) throws MalformedMessage;

    /** Another node is lost for good, whatever comes from it later. */
    void lost(int node, long now);

    /**
     * This node has another parent, since the one before was silent. What that one did not answer has to be asked
     * again.
     */
    void attached(int parent, long now);

    /** This node has no way to the root any more, or was declared lost: for good. No call comes any more. */
    void over(String why, long now);
}
