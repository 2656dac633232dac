package org.udckpt.coordination.protocol;

import java.util.List;
import org.udckpt.coordination.tree.CallResult;

/**
 * How a checkpoint ended.
 *
 * @param checkpoint its number
 * @param committed  whether it exists
 * @param why        it does not; null if it does
 * @param calls      that were made for it, in their order
 */
public record CheckpointOutcome(long checkpoint, boolean committed, String why, List<CallTime> calls) {
    public CheckpointOutcome {
        calls = List.copyOf(calls);
    }

    /**
     * One call.
     *
     * @param request what was asked
     * @param nanos   from its beginning to the last answer
     * @param tally   what came back: the slowest node, and the time of each level
     */
    public record CallTime(Request request, long nanos, CallResult tally) {
        /** What the agreement took on top of the slowest node's own work, in nanoseconds. */
        public long coordination() {
            return nanos - tally.longest();
        }
    }
}
