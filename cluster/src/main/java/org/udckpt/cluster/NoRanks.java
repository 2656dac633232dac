package org.udckpt.cluster;

import java.util.function.Supplier;
import org.udckpt.coordination.protocol.NodeProtocol;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.coordination.protocol.Ranks;
import org.udckpt.coordination.protocol.Request;

/** The ranks of the lead's node, which has none: every request succeeds at once. */
final class NoRanks implements Ranks {
    private final NodeThread thread;
    private final Supplier<long[]> counts;
    private NodeProtocol part;

    /** @param counts what the lead says to DRAIN, see {@link LeadListener#counts} */
    NoRanks(NodeThread thread, Supplier<long[]> counts) {
        this.thread = thread;
        this.counts = counts;
    }

    void of(NodeProtocol own) {
        part = own;
    }

    @Override
    public void begin(Request request, long now) {
        thread.execute(then -> part.participant().done(request, null,
                request.op() == Op.DRAIN ? counts.get() : new long[0], then));
    }

    @Override
    public void over(String why, long inDoubt, long now) {
        throw new IllegalStateException("the root has lost the root: " + why);
    }
}
