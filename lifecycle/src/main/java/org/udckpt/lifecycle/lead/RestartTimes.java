package org.udckpt.lifecycle.lead;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.udckpt.coordination.protocol.CheckpointOutcome;
import org.udckpt.lifecycle.checkpoint.CallTimes;
import org.udckpt.store.CallRow;

/**
 * What the restart of a job of several nodes takes: the calls of its coordinator, and what the time went into where the
 * processes came last. For one thread.
 */
final class RestartTimes {
    private static final String START = "start";

    private final List<String> hosts;
    private final List<CallRow> calls = new ArrayList<>();
    private final Map<Integer, String> revived = new HashMap<>();

    /** @param hosts of the units, by number */
    RestartTimes(List<String> hosts) {
        this.hosts = hosts;
    }

    /** All nodes have answered; what is no step of a restart is left out. */
    void called(CheckpointOutcome.CallTime call) {
        switch (call.request().op()) {
            case FILES, START, EXCHANGE, CONNECT, OPEN -> calls.add(CallTimes.row(call));
            case SUSPEND, DRAIN, SNAPSHOT, RESUME, WRITE, COMMIT, ABORT, END -> {
            }
        }
    }

    /** A unit's processes are there. @param phases what its time went into, for people */
    void revived(int unit, String phases) {
        revived.put(unit, phases);
    }

    /** {@code files 1.0 ms (slowest a: 0.5 ms), start ...; on b: namespaces 80 ms, ...}. */
    @Override
    public String toString() {
        String last = calls.stream().filter(call -> call.call().equals(START) && revived.containsKey(call.slowest()))
                .map(call -> "; on " + hosts.get(call.slowest()) + ": " + revived.get(call.slowest()))
                .collect(Collectors.joining());
        return calls.stream().map(call -> CallTimes.text(call, hosts)).collect(Collectors.joining(", ")) + last;
    }
}
