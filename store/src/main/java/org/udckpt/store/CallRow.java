package org.udckpt.store;

import java.util.Objects;

/**
 * A row of the table {@code calls}: what the coordinator of a job of several nodes has asked of all of them for this
 * checkpoint, in order. Times are in nanoseconds, each by one node's own clock.
 *
 * @param call suspend, drain, snapshot, resume or write
 * @param round of drain, from 0
 * @param nanoseconds from its beginning to the last answer, at the lead
 * @param slowest the node of the image whose own work took longest; {@link #LEAD} where that was the lead
 * @param longest and how long
 * @param levels by level of the tree, the lead's (0) first: the longest time from a node's hearing of the call until it
 *     and all below it had answered
 */
public record CallRow(String call, int round, long nanoseconds, int slowest, long longest, long[] levels) {
    public CallRow {
        Objects.requireNonNull(call, "no call");
        Objects.requireNonNull(levels, "no levels");
    }

    /** In the place of a node. */
    public static final int LEAD = -1;
}
