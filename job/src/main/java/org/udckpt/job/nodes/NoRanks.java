package org.udckpt.job.nodes;

import java.util.function.Supplier;
import org.udckpt.job.coordinator.NodePart;
import org.udckpt.job.coordinator.Op;
import org.udckpt.job.coordinator.Ranks;
import org.udckpt.job.coordinator.Request;

/** Of the lead's node, which has none: whatever is asked of it is done. */
final class NoRanks implements Ranks {
    private final NodeThread thread;
    private final Supplier<long[]> counts;
    private NodePart part;

    /** @param counts what the lead says to DRAIN, see {@link LeadPart#counts} */
    NoRanks(NodeThread thread, Supplier<long[]> counts) {
        this.thread = thread;
        this.counts = counts;
    }

    void of(NodePart own) {
        part = own;
    }

    @Override
    public void begin(Request request, long now) {
        thread.execute(then -> part.participant().done(request, null, request.op() == Op.DRAIN ? counts.get() : new long[0], then));
    }

    @Override
    public void over(String why, long inDoubt, long now) {
        throw new IllegalStateException("the root has lost the root: " + why);
    }
}
