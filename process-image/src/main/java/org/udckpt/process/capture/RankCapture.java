package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.SIGKILL;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.IpcGroup;
import org.udckpt.process.kinds.mount.JobMounts;
import org.udckpt.process.trace.TracerThread;
import org.udckpt.process.tracking.WriteTracking;

/** One rank's tree in the middle of a capture, driven phase by phase on its own tracer thread. */
final class RankCapture {
    final CaptureRequest.Root root;
    final TracerThread tracer;
    private final Stopper stopper;
    private final WriteTracking tracking;
    private final Zombies zombies = new Zombies();
    private long begun;
    private long ended;
    private long stopNs;
    private long stateNs;
    private long forkNs;
    private long resumeNs;

    RankCapture(CaptureRequest.Root root, TimedCalls calls, WriteTracking tracking) {
        this.root = root;
        this.tracking = tracking;
        this.stopper = new Stopper(calls);
        this.tracer = new TracerThread("trace-rank-" + root.rank());
    }

    List<TracedProcess> processes() {
        return stopper.processes();
    }

    /** As the agent numbers them. */
    Stream<Integer> threads() {
        return processes().stream().flatMap(process -> process.threads.stream()).map(thread -> thread.tid);
    }

    Zombies zombies() {
        return zombies;
    }

    CompletableFuture<Long> stop() {
        return timed(() -> {
            begun = System.nanoTime();
            stopper.stop(root);
            return null;
        }, ns -> stopNs = ns);
    }

    /** Adds orphans: processes below the shepherd that no process of the job is the parent of any more. */
    CompletableFuture<Long> adopt(List<Integer> orphans) {
        return timed(() -> {
            orphans.forEach(pid -> stopper.adopt(root, pid));
            return null;
        }, ns -> stopNs += ns);
    }

    /** Everything that is read from outside, and the refusals that follow from it. */
    CompletableFuture<Long> read(JobMounts mounts) {
        return timed(() -> {
            int origin = SharingCheck.origin(processes().getFirst());
            TaskStatus started = TaskStatus.of(origin, origin);
            PidLevels levels = new PidLevels(started, origin);
            ProcessEnvironmentCheck surroundings = new ProcessEnvironmentCheck(origin, started, levels, mounts);
            for (TracedProcess process : processes()) {
                ProcessReader.read(process, levels);
                process.library = Attachment.check(process, root.library(process));
                SharingCheck.refuse(process);
                surroundings.refuse(process);
                process.ownedRanges = process.library != null ? process.library.ownedRanges() : inherited(process);
                MappingCheck.refuse(process);
            }
            SharingCheck.refuseShared(processes());
            SharingCheck.distrustTogether(processes());
            ThreadDirectories.read(processes());
            zombies.read(stopper.zombies(), processes(), levels, mounts.others().pids());
            return null;
        }, ns -> stateNs += ns);
    }

    CompletableFuture<Long> ask(MemoryObjects memory, JobMounts mounts) {
        return timed(() -> {
            ProcessReader.ask(processes());
            mounts.others().ask(processes());
            zombies.ask();
            PrivilegeReader.ask(processes());
            NumaPolicies.ask(processes());
            FutureLocks.ask(processes());
            Keyrings.refuse(processes());
            processes().forEach(memory::readSegments);
            SegmentCheck.refuse(processes());
            RingDrain.drain(processes());
            return null;
        }, ns -> stateNs += ns);
    }

    /**
     * Kinds that make calls in a process of this rank, of what all ranks have.
     *
     * @param first whether that is what they ask once
     * @param groups of all IPC namespaces
     */
    CompletableFuture<Long> ask(DescriptorReader reader, List<TracedProcess> all, boolean first,
            List<IpcGroup> groups) {
        return timed(() -> {
            if (first) {
                reader.ask(processes().getFirst(), all);
            }
            groups.stream().filter(this::asks).forEach(reader::ask);
            return null;
        }, ns -> stateNs += ns);
    }

    /** Whether the caller of an IPC namespace is a process of this rank. */
    boolean asks(IpcGroup group) {
        return processes().contains(group.caller());
    }

    /** Asks for socket peers: that needs all descriptors read, and only the job's own processes can ask. */
    CompletableFuture<Long> askPeers(PeerCredentialReader peers) {
        return timed(() -> {
            peers.ask(processes());
            ended = System.nanoTime();
            return null;
        }, ns -> stateNs += ns);
    }

    CompletableFuture<Long> fork() {
        return timed(() -> {
            track(); // before the copies are made: what changes from here on is the next checkpoint's
            List<SnapshotFork> forks = processes().stream().map(SnapshotFork::new).toList();
            RuntimeException failure;
            try (ForkRoom _ = new ForkRoom(processes())) {
                failure = make(forks);
                for (int i = 0; i < forks.size(); i++) {
                    keep(processes().get(i), forks.get(i).snapshot());
                }
            }
            if (failure != null) {
                throw failure;
            }
            for (TracedProcess process : processes()) {
                DontForkMemory.copy(process, process.snapshot.unforked());
                SnapshotFork.detachSegments(process, process.snapshot.pid());
            }
            ended = System.nanoTime();
            return null;
        }, ns -> forkNs = ns);
    }

    private void track() {
        for (TracedProcess process : processes()) {
            if (tracking.on() && !process.sharesMemory) {
                long[] mappings = process.mappings.stream()
                        .filter(mapping -> !mapping.shared() && !mapping.kernelOwned() && !process.owns(mapping))
                        .flatMapToLong(mapping -> LongStream.of(mapping.start(), mapping.end())).toArray();
                process.unwritten = tracking.stopped(process.task(), process.namespacePid, process.status,
                        process.main().injector, mappings,
                        () -> PinnedMemory.written(process));
            }
        }
    }

    /** Finds what memory the process had at its stop, which makes the next one shorter. */
    void scan(TracedProcess process) {
        process.snapshot.scan(process, process.ownMappings());
        tracking.populated(process.task(), process.snapshot.forkedExtents(), process.snapshot.hugePages());
    }

    /** Null, or why not all of them could be made. */
    private RuntimeException make(List<SnapshotFork> forks) {
        Subreapers subreapers = new Subreapers(processes());
        RuntimeException failure = null;
        try {
            subreapers.off();
            SnapshotFork.make(forks);
        } catch (RuntimeException e) {
            failure = e;
        }
        return subreapers.on(failure);
    }

    private void keep(TracedProcess process, int snapshot) {
        if (snapshot != 0) {
            try {
                process.snapshot = new Snapshot(tracer, snapshot, process,
                        new ContentCopy(process.namespacePid, true));
            } catch (RuntimeException | Error failure) {
                Snapshot.kill(snapshot);
                throw failure;
            }
        }
    }

    CompletableFuture<Long> resume() {
        return timed(() -> {
            ProcessResume.all(processes());
            ended = System.nanoTime();
            return null;
        }, ns -> resumeNs = ns);
    }

    /** The processes are killed in their stop; the tracer's end tells their parents. */
    void end() {
        tracer.call(() -> {
            for (TracedProcess process : processes()) {
                // one that has been killed meanwhile is still there, for its tracer
                Syscall.call(Syscall.KILL, process.pid, SIGKILL);
                if (process.memory != null) {
                    process.memory.close();
                    process.memory = null;
                }
            }
            return null;
        });
    }

    /** Undoes what a failed capture has done so far; then the tracer ends, and with it every trace that may be left. */
    void abandon() {
        try {
            tracer.call(() -> {
                ProcessResume.all(processes());
                return null;
            });
            for (TracedProcess process : processes()) {
                if (process.snapshot != null) {
                    process.snapshot.close();
                }
            }
        } finally {
            tracer.close();
        }
    }

    PhaseTimes times(long objectsNs) {
        int threads = 0;
        for (TracedProcess process : processes()) {
            threads += process.threads.size();
        }
        return new PhaseTimes(root.rank(), root.pid(), processes().size(), threads, stopNs, stateNs, objectsNs, forkNs,
                resumeNs, ended - begun);
    }

    /** A child inherits the library's shared mappings; they are known by device and inode. */
    private long[] inherited(TracedProcess process) {
        List<Mapping> owned = new ArrayList<>();
        // an orphan has it from anybody
        List<TracedProcess> heirs = process.parent != null ? List.of(process.parent) : processes();
        for (TracedProcess from : heirs) {
            for (Mapping mapping : from.mappings == null ? List.<Mapping>of() : from.mappings) { // null: not read yet
                if (mapping.shared() && mapping.file() && from.owns(mapping)) {
                    owned.add(mapping);
                }
            }
        }
        long[] ranges = new long[0];
        for (Mapping mapping : process.mappings) {
            for (Mapping other : owned) {
                if (mapping.inode() == other.inode() && mapping.device().equals(other.device()) && mapping.shared()) {
                    ranges = Arrays.copyOf(ranges, ranges.length + 2);
                    ranges[ranges.length - 2] = mapping.start();
                    ranges[ranges.length - 1] = mapping.end();
                    break;
                }
            }
        }
        return ranges;
    }

    private interface Sink {
        void accept(long ns);
    }

    private CompletableFuture<Long> timed(Callable<Void> phase, Sink sink) {
        return tracer.submit(() -> {
            long start = System.nanoTime();
            phase.call();
            long ns = System.nanoTime() - start;
            sink.accept(ns);
            return ns;
        });
    }
}
