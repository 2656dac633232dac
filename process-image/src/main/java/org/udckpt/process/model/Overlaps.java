package org.udckpt.process.model;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Where the memory of several processes lies at the same addresses. */
public final class Overlaps {
    /** Hears of each part, ascending. */
    @FunctionalInterface
    public interface Part {
        /** @param members numbers in the list, ascending, of those that cover all of [start, end); at least two */
        void found(long start, long end, int[] members);
    }

    private record Edge(long address, int member, boolean begins) {}

    private Overlaps() {}

    /** @param ranges of each: {start, end} pairs, ascending, not overlapping */
    public static void of(List<long[]> ranges, Part to) {
        List<Edge> edges = new ArrayList<>();
        for (int member = 0; member < ranges.size(); member++) {
            long[] pairs = ranges.get(member);
            for (int i = 0; i < pairs.length; i++) {
                edges.add(new Edge(pairs[i], member, i % 2 == 0));
            }
        }
        // An end comes before a beginning at the same address, so that neighbouring ranges of one member stay two.
        edges.sort((a, b) -> a.address != b.address ? Long.compareUnsigned(a.address, b.address)
                : Boolean.compare(a.begins, b.begins));
        TreeSet<Integer> members = new TreeSet<>();
        long at = 0;
        for (Edge edge : edges) {
            if (members.size() > 1 && edge.address != at) {
                to.found(at, edge.address, members.stream().mapToInt(Integer::intValue).toArray());
            }
            at = edge.address;
            if (edge.begins) {
                members.add(edge.member);
            } else {
                members.remove(edge.member);
            }
        }
    }
}
