package org.udckpt.coordination.tree;

import java.util.Arrays;

/**
 * What the nodes of a subtree said of one call.
 *
 * @param nodes that have answered
 * @param failure of one of them, or null; then the rest may not have answered
 * @param slowest the node whose own work took longest
 * @param longest and for how long, in nanoseconds
 * @param levels by level of the tree, from 0: the longest time from a node's hearing of the call to its answer, in
 *     nanoseconds
 * @param sums of what the nodes counted, element by element
 */
public record CallResult(int nodes, Failure failure, int slowest, long longest, long[] levels, long[] sums) {
    /** No node has answered. */
    static final CallResult NONE = new CallResult(0, null, 0, 0, new long[0], new long[0]);

    /**
     * Why a call failed.
     *
     * @param node that failed or was lost
     * @param text what happened, for the job's owner
     */
    public record Failure(int node, String text) {
        @Override
        public String toString() {
            return "node " + node + ": " + text;
        }
    }

    static CallResult of(int node, long nanos, Failure failure, long[] sums) {
        return new CallResult(1, failure, node, nanos, new long[0], sums);
    }

    /** Both together; the first failure stands. */
    CallResult and(CallResult other) {
        boolean first = longest >= other.longest && nodes > 0;
        return new CallResult(nodes + other.nodes, failure != null ? failure : other.failure,
                first ? slowest : other.slowest, Math.max(longest, other.longest),
                merge(levels, other.levels, Math::max), merge(sums, other.sums, Long::sum));
    }

    CallResult failed(Failure why) {
        return new CallResult(nodes, failure != null ? failure : why, slowest, longest, levels, sums);
    }

    CallResult level(int level, long nanos) {
        long[] own = new long[level + 1];
        own[level] = nanos;
        return new CallResult(nodes, failure, slowest, longest, merge(levels, own, Math::max), sums);
    }

    private static long[] merge(long[] one, long[] other, java.util.function.LongBinaryOperator with) {
        long[] merged = Arrays.copyOf(one, Math.max(one.length, other.length));
        for (int i = 0; i < other.length; i++) {
            merged[i] = i < one.length ? with.applyAsLong(one[i], other[i]) : other[i];
        }
        return merged;
    }
}
