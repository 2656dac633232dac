package org.udckpt.process.feature;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.udckpt.process.capture.Capture;
import org.udckpt.process.capture.CaptureFailed;
import org.udckpt.process.capture.CaptureRequest;
import org.udckpt.process.capture.TimedCalls;
import org.udckpt.process.check.ImageCheck;
import org.udckpt.process.files.FileLeases;
import org.udckpt.process.files.FileRequest;
import org.udckpt.process.files.Rollback;
import org.udckpt.process.files.RollbackRequest;
import org.udckpt.process.identity.KnownFiles;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.restore.RestoreTarget;
import org.udckpt.process.restore.Restored;
import org.udckpt.process.restore.Restorer;
import org.udckpt.process.tracking.HeldMemory;
import org.udckpt.process.tracking.WriteTracking;

/** A checkpoint in this process's memory: what the image would hold. */
final class SavedJob implements AutoCloseable {
    private final JobImage image;
    private final List<MemorySource> memory;
    private static final int ATTEMPTS = 5;

    private final Arena arena;

    private SavedJob(JobImage image, List<MemorySource> memory, Arena arena) {
        this.image = image;
        this.memory = memory;
        this.arena = arena;
    }

    static SavedJob capture(int pid, ShepherdProcess shepherd) {
        return capture(pid, shepherd, false);
    }

    /**
     * Captures the tree of a process that a shepherd started.
     *
     * @param second after another one, which comes to nothing but that this one is told what was written since
     */
    static SavedJob capture(int pid, ShepherdProcess shepherd, boolean second) {
        try (WriteTracking tracking = WriteTracking.ifAvailable()) {
            CaptureRequest request = request(pid, shepherd, tracking);
            Map<Long, HeldMemory> held = second ? before(request, shepherd, tracking) : Map.of();
            try (Capture capture = take(request, shepherd, Capture::take)) {
                check(capture, held);
                return of(capture);
            }
        }
    }

    private static CaptureRequest request(int pid, ShepherdProcess shepherd, WriteTracking tracking) {
        CaptureRequest plain = new CaptureRequest(List.of(new CaptureRequest.Root(0, pid)),
                CaptureRequest.StandardStreams.of((int) shepherd.pid()));
        return new CaptureRequest(plain.roots(), plain.streams(), false, FileRequest.open(), FileLeases.now(),
                new TimedCalls(), tracking, plain.shepherd());
    }

    /** A checkpoint before the one that counts; what its processes held, where a next one could be based on it. */
    private static Map<Long, HeldMemory> before(CaptureRequest request, ShepherdProcess shepherd,
            WriteTracking tracking) {
        Map<Long, HeldMemory> held = new HashMap<>();
        tracking.begin();
        try (Capture first = take(request, shepherd, Capture::take)) {
            first.image();
            for (MemorySource source : first.sources()) {
                if (source.process() && tracking.on()) {
                    held.put(source.id(), HeldMemory.of(source, 1, held.size() + 1));
                }
            }
        }
        Map<Long, Integer> numbers = new HashMap<>();
        held.forEach((id, one) -> numbers.put(id, one.number()));
        tracking.committed(1, numbers, _ -> new long[0]);
        tracking.begin();
        return held;
    }

    /** What is said to be unwritten since is as it was. */
    private static void check(Capture capture, Map<Long, HeldMemory> held) {
        capture.image();
        for (MemorySource source : capture.sources()) {
            if (held.containsKey(source.id()) && source.process()) {
                held.get(source.id()).check(source.unwritten(), HeldMemory.of(source, 2, 0), "process " + source.id());
            }
        }
    }

    private static SavedJob of(Capture capture) {
        Arena arena = Arena.ofShared();
        List<MemorySource> memory = new ArrayList<>();
        for (MemorySource source : capture.sources()) {
            memory.add(new SavedMemory(source, arena));
        }
        JobImage image = capture.image().identified(capture.identities(new KnownFiles()));
        try {
            ImageCheck.check(image);
            ImageCheck.check(image, memory);
        } catch (BrokenTable wrong) {
            throw new AssertionError("a true image is refused: " + wrong.table() + " " + wrong.getMessage(), wrong);
        }
        return new SavedJob(image, memory, arena);
    }

    /**
     * As {@link #capture}, but it ends where it stood, when {@code look} has looked at its processes, whose pids as
     * this process sees them it is given.
     */
    static SavedJob captureLast(int pid, ShepherdProcess shepherd, boolean second, Consumer<List<Integer>> look) {
        try (WriteTracking tracking = WriteTracking.ifAvailable()) {
            CaptureRequest request = request(pid, shepherd, tracking);
            Map<Long, HeldMemory> held = second ? before(request, shepherd, tracking) : Map.of();
            try (Capture capture = take(request, shepherd, Capture::standing)) {
                look.accept(shepherd.processes(capture.snapshotPids()));
                check(capture, held);
                SavedJob saved = of(capture);
                capture.end();
                return saved;
            }
        }
    }

    /** What fails may succeed a moment later, as a job's checkpoint does, which is tried again too. */
    private static Capture take(CaptureRequest request, ShepherdProcess shepherd,
            Function<CaptureRequest, Capture> how) {
        for (int attempt = 1;; attempt++) {
            try {
                Capture capture = how.apply(request);
                for (int snapshot : capture.shepherdsPids()) {
                    shepherd.tell("expect " + snapshot);
                }
                return capture;
            } catch (CaptureFailed again) {
                if (attempt == ATTEMPTS) {
                    throw again;
                }
            }
        }
    }

    JobImage image() {
        return image;
    }

    List<MemorySource> memory() {
        return memory;
    }

    /** The same checkpoint, as another machine might have made it. It needs this one's memory: close only this one. */
    SavedJob as(JobImage other, List<MemorySource> contents) {
        return new SavedJob(other, contents, arena);
    }

    /** The same checkpoint on a slow disk; close only this one. */
    SavedJob slow(long pageNs) {
        return as(image, memory.stream().map(source -> (MemorySource) new SlowMemory(source, pageNs)).toList());
    }

    ShepherdProcess newShepherd(Path binary, Path socket, Path output) throws IOException, InterruptedException {
        return new ShepherdProcess(binary, socket, output, "--restore", "0");
    }

    /** Restores into a shepherd's namespaces; the pid of the first process as this one sees it. */
    int restore(ShepherdProcess shepherd) {
        return first(restore(shepherd, false, hostPids -> {}));
    }

    /**
     * As {@link #restore(ShepherdProcess)}.
     *
     * @param lazily all memory that can wait comes in while the job runs
     * @param look is given the pids of the processes, as this process sees them, when all are there and none has run
     */
    Restored restore(ShepherdProcess shepherd, boolean lazily, Consumer<Collection<Integer>> look) {
        try (Rollback files = Rollback.prepare(image, memory,
                new RollbackRequest("saved", false, List.of(), "", new long[0], Set.of()))) {
            files.swap();
            Restored restored =
                    Restorer.restore(image, memory, new Target(shepherd, look), lazily ? 1 : Long.MAX_VALUE);
            files.commit();
            return restored;
        }
    }

    int first(Restored restored) {
        return restored.hostPids().get(image.processes().getFirst().pid());
    }

    @Override
    public void close() {
        arena.close();
    }

    private record Target(ShepherdProcess shepherd, Consumer<Collection<Integer>> look) implements RestoreTarget {
        @Override
        public void awaitRelease(Map<Integer, Integer> hostPids) {
            look.accept(hostPids.values());
        }

        @Override
        public void clock(long offsetNs) {
            shepherd.ask("clock " + offsetNs);
        }

        @Override
        public void last(int pid) {
            shepherd.ask("last " + pid);
        }

        @Override
        public int parent(int pid) {
            return shepherd.ask("parent " + pid);
        }

        @Override
        public int stub(int pid) {
            return shepherd.ask("stub " + pid);
        }

        @Override
        public void adopt(int pid, int hostPid) {
            shepherd.ask("adopt " + pid + " " + hostPid);
        }

        @Override
        public int pmi(int rank, byte[] queued) {
            throw new IllegalStateException("a feature program has no process manager");
        }

        @Override
        public void taken(int descriptor) {
            shepherd.tell("taken " + descriptor);
        }

        @Override
        public int lazy() {
            return shepherd.ask("lazy");
        }

        @Override
        public void warn(String what) {
            System.out.println(what);
        }

        @Override
        public void go() {
            shepherd.tell("go");
        }

        @Override
        public Path agentSocket() {
            throw new IllegalStateException("a feature program has no agent");
        }
    }
}
