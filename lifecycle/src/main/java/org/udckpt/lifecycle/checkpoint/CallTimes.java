package org.udckpt.lifecycle.checkpoint;

import java.util.List;
import java.util.Locale;
import org.udckpt.coordination.protocol.CheckpointOutcome;
import org.udckpt.store.CallRow;
import org.udckpt.support.report.Durations;

/** What the coordinator's calls took, for images and for people. */
public final class CallTimes {
    private CallTimes() {}

    /** A call that all nodes have answered. */
    public static CallRow row(CheckpointOutcome.CallTime call) {
        int slowest = call.tally().slowest() - 1; // the lead is the tree's node 0, and in no image
        return new CallRow(call.request().op().name().toLowerCase(Locale.ROOT), call.request().round(), call.nanos(),
                slowest, call.tally().longest(), call.tally().levels());
    }

    /** {@code suspend 3.10 ms (slowest b: 2.00 ms)}. @param hosts by node of an image; of one nothing need be said */
    public static String text(CallRow call, List<String> hosts) {
        boolean several = hosts.size() > 1 && call.slowest() != CallRow.LEAD;
        return call.call() + " " + Durations.format(call.nanoseconds()) + (several
                ? " (slowest " + hosts.get(call.slowest()) + ": " + Durations.format(call.longest()) + ")" : "");
    }
}
