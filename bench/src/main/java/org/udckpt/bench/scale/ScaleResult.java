package org.udckpt.bench.scale;

import java.util.List;
import org.udckpt.coordination.protocol.CheckpointOutcome;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.coordination.tree.Tree;

/**
 * What one run came to.
 *
 * @param exchange   null where none was made
 * @param checkpoint all phases
 */
record ScaleResult(Pattern pattern, NetworkModel network, Tree tree, Step exchange, Step checkpoint,
        CheckpointOutcome outcome) {
    private static final List<Op> STANDING = List.of(Op.SUSPEND, Op.DRAIN, Op.SNAPSHOT);

    /**
     * Something that was done by all nodes.
     *
     * @param nanos        that it took: the exchange on top of the slowest node's own part, the checkpoint altogether
     * @param mostBytes    sent and received by the busiest node, with all headers
     * @param medianBytes  the same of the node in the middle
     * @param longestQueue the most messages that waited at one node
     * @param largestQueue the most bytes that waited at one node
     */
    record Step(long nanos, long mostBytes, long medianBytes, long longestQueue, long largestQueue) {
        static Step of(long nanos, NodeTraffic traffic) {
            return new Step(nanos, traffic.most(), traffic.median(), traffic.longestQueue(), traffic.largestQueue());
        }
    }

    /** Nanoseconds of one phase on top of its slowest node; rounds are added up. */
    long coordination(Op op) {
        return outcome.calls().stream().filter(call -> call.request().op() == op)
                .mapToLong(CheckpointOutcome.CallTime::coordination).sum();
    }

    /** Nanoseconds of one phase's slowest node; rounds are added up. */
    long slowest(Op op) {
        return outcome.calls().stream().filter(call -> call.request().op() == op)
                .mapToLong(call -> call.tally().longest()).sum();
    }

    /** Time of suspend, drain and snapshot together. */
    long agreement() {
        return STANDING.stream().mapToLong(this::coordination).sum();
    }

    /** In bytes, of the busiest node, the exchange and the checkpoint together at most. */
    long mostBytes() {
        return checkpoint.mostBytes() + (exchange == null ? 0 : exchange.mostBytes());
    }
}
