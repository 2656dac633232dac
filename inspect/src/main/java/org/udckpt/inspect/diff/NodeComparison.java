package org.udckpt.inspect.diff;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;
import org.udckpt.store.OpenNode;

/**
 * Compares a node of one checkpoint with that of another: the processes that {@code run} started by their number, all
 * others by their pid.
 */
final class NodeComparison {
    private final OpenNode older;
    private final OpenNode newer;
    private final DescriptorComparison descriptors;

    private record Pair(ProcessState older, ProcessState newer) {}

    NodeComparison(OpenNode older, OpenNode newer) {
        this.older = older;
        this.newer = newer;
        this.descriptors = new DescriptorComparison(older, newer);
    }

    NodeDiff run(MemoryComparison memory) {
        List<Pair> pairs = new ArrayList<>();
        List<ProcessState> fresh = new ArrayList<>(newer.image().processes());
        List<ProcessState> gone = new ArrayList<>();
        for (ProcessState process : older.image().processes()) {
            ProcessState other =
                    fresh.stream().filter(candidate -> matches(process, candidate)).findFirst().orElse(null);
            if (other == null) {
                gone.add(process);
            } else {
                pairs.add(new Pair(process, other));
                fresh.remove(other);
            }
        }
        List<ProcessDiff> processes = new ArrayList<>();
        pairs.forEach(pair -> processes.add(process(pair, memory)));
        List<SharedDiff> shared = new ArrayList<>();
        new SharedPairs(older.image(), newer.image())
                .forEach((before, after) -> shared.add(new SharedDiff(before, after,
                        pages(memory, before == null ? 0 : before.id(), after == null ? 0 : after.id()))));
        List<FileDiff> files =
                FileDiff.of(older.image(), newer.image(), (before, after) -> pages(memory, before, after));
        return new NodeDiff(older, newer, List.copyOf(processes), List.copyOf(fresh), List.copyOf(gone),
                List.copyOf(shared), files);
    }

    private static boolean matches(ProcessState one, ProcessState other) {
        boolean first = one.parentPid() == 0;
        return one.rank() == other.rank() && first == (other.parentPid() == 0) && (first || one.pid() == other.pid());
    }

    private ProcessDiff process(Pair pair, MemoryComparison memory) {
        List<Region> before = regions(older, pair.older());
        List<Region> after = regions(newer, pair.newer());
        Groups groups = new Groups(before, after);
        memory.compare(older.memory(pair.older().pid()), newer.memory(pair.newer().pid()), groups);
        Set<Integer> had = threads(older, pair.older());
        Set<Integer> has = threads(newer, pair.newer());
        return new ProcessDiff(pair.older(), pair.newer(), groups.list(), new RegionComparison(before, after).changes(),
                descriptors.changes(pair.older(), pair.newer()), without(has, had), without(had, has));
    }

    private static List<Region> regions(OpenNode node, ProcessState process) {
        return node.image().regions().stream().filter(region -> region.pid() == process.pid()).toList();
    }

    /** The threads; the main thread's id, which is the process's, is left out. */
    private static Set<Integer> threads(OpenNode node, ProcessState process) {
        Set<Integer> ids = new TreeSet<>();
        node.image().threads().stream().filter(thread -> thread.pid() == process.pid() && thread.tid() != thread.pid())
                .map(ThreadState::tid).forEach(ids::add);
        return ids;
    }

    private static List<Integer> without(Set<Integer> all, Set<Integer> those) {
        return all.stream().filter(id -> !those.contains(id)).toList();
    }

    private PageCounts pages(MemoryComparison memory, long before, long after) {
        long[] counts = new long[MemoryComparison.Fate.values().length];
        memory.compare(older.shared(before), newer.shared(after),
                (start, end, fate) -> counts[fate.ordinal()] += (end - start) / PageCounts.BYTES);
        long changed = counts[MemoryComparison.Fate.CHANGED.ordinal()];
        return new PageCounts(counts[MemoryComparison.Fate.SAME.ordinal()] + changed, changed,
                counts[MemoryComparison.Fate.ADDED.ordinal()],
                counts[MemoryComparison.Fate.REMOVED.ordinal()]);
    }
}
