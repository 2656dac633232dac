package org.udckpt.bench.scale;

import org.udckpt.job.coordinator.Ranks;
import org.udckpt.job.coordinator.Request;

/** Of a node that is asked for nothing. */
final class NoRanks implements Ranks {
    @Override
    public void begin(Request request, long now) {
        throw new IllegalStateException(request + " is asked of a node without ranks");
    }

    @Override
    public void over(String why, long inDoubt, long now) {
        throw new IllegalStateException(why);
    }
}
