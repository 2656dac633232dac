package org.udckpt.cli;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.udckpt.image.Manifest;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.image.write.StopTimes;
import org.udckpt.inspect.view.CheckpointView;
import org.udckpt.inspect.view.NodeView;
import org.udckpt.store.CallRow;
import org.udckpt.support.report.Durations;

/** {@code udckpt inspect --phases}: where the time of a checkpoint went, call by call and node by node. */
final class PhasesText {
    private static final String CALL = "%-10s %10s   %-28s %s%n";
    private static final String NODE = "%-20s %10s %10s %10s %10s %10s %10s %10s%n";

    private final CheckpointView view;

    PhasesText(CheckpointView view) {
        this.view = view;
    }

    void print() {
        Manifest manifest = view.image().reader().manifest();
        System.out.printf("%s: stop %s at most, median %s; write %s%n", view.image().name(),
                Durations.format(manifest.stopMaxNanos()),
                Durations.format(manifest.stopMedianNanos()), Durations.format(manifest.writeNanos()));
        System.out.println("the job    " + InspectText.phases(view.phases()));
        if (!view.calls().isEmpty()) {
            System.out.printf(CALL, "call", "all nodes", "slowest node", "until the last answer, by level from the "
                    + "lead down");
            view.calls().forEach(this::call);
        }
        if (view.nodes().stream().anyMatch(node -> !node.phases().isEmpty())) {
            System.out.printf(NODE, "node", "suspend", "drain", "snapshot", "wait", "resume", "stop", "write");
            view.nodes().forEach(PhasesText::node);
        }
    }

    private void call(CallRow call) {
        String name = call.call() + (call.round() == 0 ? "" : " " + (call.round() + 1));
        String slowest = view.slowest(call)
                .map(node -> Durations.format(call.longest()) + " on " + node.host() + " (node " + node.index() + ")")
                .orElse("the lead");
        System.out.printf(CALL, name, Durations.format(call.nanoseconds()), slowest,
                Arrays.stream(call.levels()).mapToObj(Durations::format).collect(Collectors.joining(", ")));
    }

    private static void node(NodeView node) {
        List<PhaseTime> times = node.phases();
        String stop = times.isEmpty() ? "-" : Durations.format(StopTimes.of(times).max());
        System.out.printf(NODE, node.node().index() + " on " + node.node().host(), longest(times, Phase.SUSPEND),
                longest(times, Phase.DRAIN), longest(times, Phase.SNAPSHOT),
                longest(times, Phase.WAIT), longest(times, Phase.RESUME), stop, longest(times, Phase.WRITE));
    }

    /** The node's own time, and that of the rank of it that took longest. */
    private static String longest(List<PhaseTime> times, Phase phase) {
        List<PhaseTime> own = times.stream().filter(time -> time.phase() == phase).toList();
        long all = own.stream().filter(time -> time.rank() == PhaseTime.JOB).mapToLong(PhaseTime::nanoseconds).sum();
        long most = own.stream().filter(time -> time.rank() != PhaseTime.JOB).mapToLong(PhaseTime::nanoseconds).max()
                .orElse(0);
        return own.isEmpty() ? "-" : Durations.format(all + most);
    }
}
