package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.MAP_ANONYMOUS;
import static org.udckpt.linux.LinuxConstants.MAP_FIXED_NOREPLACE;
import static org.udckpt.linux.LinuxConstants.MAP_NORESERVE;
import static org.udckpt.linux.LinuxConstants.MAP_PRIVATE;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.inherit.Content;
import org.udckpt.process.inherit.ForkPreparation;
import org.udckpt.process.inherit.InheritancePlan;
import org.udckpt.process.inherit.Inherited;
import org.udckpt.process.inherit.Span;
import org.udckpt.process.model.AddressRanges;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.SharedTables;
import org.udckpt.process.tree.TreeStep;

/**
 * Gives tracees memory that their children have in common with them or with each other, before they fork: so the kernel
 * shares it between them, as it did before the checkpoint. It lies at its place in the job's processes, and so the
 * stub's own mappings have to go first.
 */
final class InheritedMemory {
    private static final int READ_WRITE = 3;

    private final InheritancePlan plan;
    private final Map<Long, MemorySource> contents;
    private final Handles handles;
    private final NamedFiles files;
    private final Set<Tracee> cleared = Collections.newSetFromMap(new IdentityHashMap<>());
    private Pages pages;

    InheritedMemory(List<TreeStep> steps, JobImage image, Map<Integer, List<Region>> regions,
            Map<Long, MemorySource> contents, Handles handles,
            NamedFiles files) {
        this.contents = contents;
        this.handles = handles;
        this.files = files;
        Map<Integer, List<Region>> movable = regions.entrySet().stream().collect(
                Collectors.toMap(Map.Entry::getKey, entry -> placedAnywhere(image, entry.getKey(),
                        entry.getValue().stream().filter(one -> isForkers(entry.getKey(), one)).toList())));
        plan = InheritancePlan.of(byMemory(steps, SharedTables.of(image, AttributeKind.SHARED_MEMORY)), movable,
                pid -> contents.containsKey((long) pid) ? contents.get((long) pid).stored() : List.of());
    }

    /** As if one process made the children of all that have one memory. */
    private static List<TreeStep> byMemory(List<TreeStep> steps, SharedTables memories) {
        return steps.stream().filter(step -> !(step instanceof TreeStep.Fork fork && memories.shares(fork.pid())))
                .map(step -> step instanceof TreeStep.Fork fork
                        ? new TreeStep.Fork(memories.first(fork.maker()), fork.pid(), fork.helper()) : step)
                .toList();
    }

    /**
     * Whether who forks a process finds the file of its memory: nobody is in a mount namespace of the job's own yet,
     * where the name may lead to another one.
     */
    private boolean isForkers(int pid, Region region) {
        return !region.path().startsWith("/") || region.path().equals(files.views().outside(pid, region.path()));
    }

    /** Without those that have a NUMA policy, which has to be there before the pages are. */
    private static List<Region> placedAnywhere(JobImage image, int pid, List<Region> regions) {
        List<long[]> bound = image.attributes().stream()
                .filter(one -> one.pid() == pid && one.kind() == AttributeKind.MEMORY_POLICY && one.end() != 0)
                .map(one -> new long[]{one.start(), one.end()}).toList();
        return regions.stream().filter(
                region -> bound.stream().noneMatch(range -> region.start() < range[1] && range[0] < region.end()))
                .toList();
    }

    /** What copies contents from now on. */
    void copyBy(Pages copying) {
        pages = copying;
    }

    /**
     * Before {@code maker} forks the process {@code child} (as the steps have it), which gets all that is in its memory
     * then.
     */
    void stage(Tracee maker, int child) {
        ForkPreparation staging = plan.before(child);
        if (staging.empty()) {
            return;
        }
        if (cleared.add(maker.memoryMaker())) {
            clear(maker, staging.there());
        }
        staging.spans().forEach(span -> map(maker, span));
        for (int pid : staging.contents().stream().map(Content::pid).collect(Collectors.toSet())) {
            long[] ranges = AddressRanges.of(staging.contents().stream().filter(one -> one.pid() == pid).toList(),
                    Content::start, Content::end);
            pages.fillMemory(ProcessContents.only(contents.get((long) pid), ranges), maker.memory(), 0, maker.name());
        }
        pages.await();
    }

    /** Unmaps all but the stub and {@code there}, and moves the kernel's pages away: the job's places are free then. */
    private static void clear(Tracee tracee, List<Span> there) {
        List<Region> stub = StubLayout.of(tracee.hostPid()).regions();
        AddressSpace.unmapOthers(tracee, stub,
                AddressRanges.of(there, Span::start, Span::end));
        KernelPages.park(tracee, stub.stream().filter(StubLayout::movable).toList());
    }

    private void map(Tracee tracee, Span span) {
        long fd = span.kind().file() ? open(tracee, span.kind().path()) : -1;
        int flags = MAP_PRIVATE | MAP_FIXED_NOREPLACE | (fd < 0 ? MAP_ANONYMOUS : 0)
                | (span.kind().has("nr") ? MAP_NORESERVE : 0);
        tracee.call("map 0x%x-0x%x for several processes".formatted(span.start(), span.end()), Syscall.MMAP,
                span.start(), span.end() - span.start(), READ_WRITE, flags, fd,
                fd < 0 ? 0 : span.start() + span.kind().fileBias());
        if (fd >= 0) {
            tracee.call("close", Syscall.CLOSE, fd);
        }
        AddressSpace.ADVICE.forEach((flag, advice) -> {
            if (span.kind().has(flag)) {
                tracee.call("madvise " + flag, Syscall.MADVISE, span.start(), span.end() - span.start(), advice);
            }
        });
    }

    /** As {@link AddressSpace} does: what was verified is handed over. */
    private long open(Tracee tracee, String path) {
        Integer given = files.given(tracee.pid(), path);
        if (given != null) {
            return Handover.give(tracee, List.of(given))[0];
        }
        long fd = LinuxError.check(files.tryOpen(tracee, path, Syscall.O_RDONLY | Syscall.O_CLOEXEC, 0),
                tracee.name() + ": open " + path);
        files.verifyOpened(tracee, path, fd);
        return fd;
    }

    Inherited of(Tracee tracee) {
        return plan.of(tracee.pid());
    }

    /** The memory that is still missing when the processes have been made. */
    MemorySource rest(MemorySource source) {
        long[] kept = plan.of((int) source.id()).kept();
        return kept.length == 0 ? source : ProcessContents.without(source, kept);
    }
}
