package org.udckpt.job.nodes;

import org.udckpt.job.coordinator.NodePart;
import org.udckpt.job.coordinator.Op;
import org.udckpt.job.coordinator.Ranks;
import org.udckpt.job.coordinator.Request;

/** Of the lead's node, which has none: whatever is asked of it is done. */
final class NoRanks implements Ranks {
    private final NodeThread thread;
    private NodePart part;

    NoRanks(NodeThread thread) {
        this.thread = thread;
    }

    void of(NodePart own) {
        part = own;
    }

    @Override
    public void begin(Request request, long now) {
        long[] counts = request.op() == Op.DRAIN ? new long[2] : new long[0]; // it has sent nothing, and nothing is for it
        thread.execute(then -> part.participant().done(request, null, counts, then));
    }

    @Override
    public void over(String why, long inDoubt, long now) {
        throw new IllegalStateException("the root has lost the root: " + why);
    }
}
