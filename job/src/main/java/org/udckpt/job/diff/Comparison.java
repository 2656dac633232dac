package org.udckpt.job.diff;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.job.store.Extents;
import org.udckpt.job.store.JobRow;
import org.udckpt.job.store.OpenImage;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;

/** Compares two checkpoints: the processes that {@code run} started by their number, all others by their pid. */
public final class Comparison {
    private final OpenImage older;
    private final OpenImage newer;
    private final DescriptorComparison descriptors;

    private record Pair(ProcessState older, ProcessState newer) {}

    public Comparison(OpenImage older, OpenImage newer) {
        this.older = older;
        this.newer = newer;
        this.descriptors = new DescriptorComparison(older, newer);
    }

    /** Reads both, every byte checked; {@code progress} is told bytes of both. */
    public ImageDiff run(CheckpointReader.Progress progress) {
        List<Pair> pairs = new ArrayList<>();
        List<ProcessState> fresh = new ArrayList<>(newer.image().processes());
        List<ProcessState> gone = new ArrayList<>();
        for (ProcessState process : older.image().processes()) {
            ProcessState other = fresh.stream().filter(candidate -> matches(process, candidate)).findFirst().orElse(null);
            if (other == null) {
                gone.add(process);
            } else {
                pairs.add(new Pair(process, other));
                fresh.remove(other);
            }
        }
        SharedPairs objects = new SharedPairs(older.image(), newer.image());
        List<ProcessDiff> processes = new ArrayList<>();
        List<SharedDiff> shared = new ArrayList<>();
        List<FileDiff> files;
        try (MemoryComparison memory = new MemoryComparison(progress, bytes(older) + bytes(newer))) {
            for (Pair pair : pairs) {
                processes.add(process(pair, memory));
            }
            objects.forEach((before, after) -> shared.add(new SharedDiff(before, after, pages(memory, before == null ? 0 : before.id(), after == null ? 0 : after.id()))));
            files = FileDiff.of(older.image(), newer.image(), (before, after) -> pages(memory, before, after));
        }
        boolean beside = older.location().parent().equals(newer.location().parent());
        return new ImageDiff(name(older, beside), older.reader().manifest(), older.processes(), name(newer, beside), newer.reader().manifest(), newer.processes(), sameJob(), List.copyOf(processes), List.copyOf(fresh),
                List.copyOf(gone), List.copyOf(shared), files, EndpointComparison.changes(older, newer));
    }

    private static String name(OpenImage image, boolean beside) {
        return beside ? image.name() : image.location().entry().directory().toString();
    }

    private static boolean matches(ProcessState one, ProcessState other) {
        boolean first = one.parentPid() == 0;
        return one.rank() == other.rank() && first == (other.parentPid() == 0) && (first || one.pid() == other.pid());
    }

    private static long bytes(OpenImage image) {
        return image.memories().values().stream().mapToLong(source -> new Extents(source).bytes()).sum();
    }

    /** Processes keep their pids over all lives of a job. */
    private boolean sameJob() {
        JobRow one = older.state().row();
        JobRow other = newer.state().row();
        return one.name().equals(other.name()) && one.words().equals(other.words()) && roots(older).equals(roots(newer));
    }

    private static Set<Integer> roots(OpenImage image) {
        Set<Integer> pids = new HashSet<>();
        image.image().processes().stream().filter(process -> process.parentPid() == 0).forEach(process -> pids.add(process.pid()));
        return pids;
    }

    private ProcessDiff process(Pair pair, MemoryComparison memory) {
        List<Region> before = regions(older, pair.older());
        List<Region> after = regions(newer, pair.newer());
        Groups groups = new Groups(before, after);
        memory.compare(older.memory(pair.older().pid()), newer.memory(pair.newer().pid()), groups);
        Set<Integer> had = threads(older, pair.older());
        Set<Integer> has = threads(newer, pair.newer());
        return new ProcessDiff(pair.older(), pair.newer(), groups.list(), new RegionComparison(before, after).changes(), descriptors.changes(pair.older(), pair.newer()), without(has, had), without(had, has));
    }

    private static List<Region> regions(OpenImage image, ProcessState process) {
        return image.image().regions().stream().filter(region -> region.pid() == process.pid()).toList();
    }

    /** Of the main thread, whose id is the process's, only that it is there. */
    private static Set<Integer> threads(OpenImage image, ProcessState process) {
        Set<Integer> ids = new TreeSet<>();
        image.image().threads().stream().filter(thread -> thread.pid() == process.pid() && thread.tid() != thread.pid()).map(ThreadState::tid).forEach(ids::add);
        return ids;
    }

    private static List<Integer> without(Set<Integer> all, Set<Integer> those) {
        return all.stream().filter(id -> !those.contains(id)).toList();
    }

    private Pages pages(MemoryComparison memory, long before, long after) {
        long[] counts = new long[MemoryComparison.Fate.values().length];
        memory.compare(older.shared(before), newer.shared(after), (start, end, fate) -> counts[fate.ordinal()] += (end - start) / Pages.BYTES);
        long changed = counts[MemoryComparison.Fate.CHANGED.ordinal()];
        return new Pages(counts[MemoryComparison.Fate.SAME.ordinal()] + changed, changed, counts[MemoryComparison.Fate.ADDED.ordinal()],
                counts[MemoryComparison.Fate.REMOVED.ordinal()]);
    }
}
