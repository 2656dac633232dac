package org.udckpt.bench.scale;

import org.udckpt.coordination.protocol.Ranks;
import org.udckpt.coordination.protocol.Request;

/** The ranks of a node that gets no requests. */
final class IdleRanks implements Ranks {
    @Override
    public void begin(Request request, long now) {
        throw new IllegalStateException(request + " is asked of a node without ranks");
    }

    @Override
    public void over(String why, long inDoubt, long now) {
        throw new IllegalStateException(why);
    }
}
