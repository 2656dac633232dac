package org.udckpt.process.feature;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.udckpt.process.capture.Capture;
import org.udckpt.process.capture.CaptureFailed;
import org.udckpt.process.capture.CaptureRequest;
import org.udckpt.process.check.BrokenTable;
import org.udckpt.process.check.ImageCheck;
import org.udckpt.process.files.Rollback;
import org.udckpt.process.files.RollbackRequest;
import org.udckpt.process.identity.KnownFiles;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.restore.RestoreTarget;
import org.udckpt.process.restore.Restored;
import org.udckpt.process.restore.Restorer;

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

    /** Captures the tree of a process that a shepherd started. @param second after another one, which comes to nothing */
    static SavedJob capture(int pid, ShepherdProcess shepherd, boolean second) {
        CaptureRequest request = new CaptureRequest(List.of(new CaptureRequest.Root(0, pid)), CaptureRequest.StandardStreams.of((int) shepherd.pid()));
        if (second) {
            take(request, shepherd).close();
        }
        try (Capture capture = take(request, shepherd)) {
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
    }

    /** What fails may succeed a moment later, as a job's checkpoint does, which is tried again too. */
    private static Capture take(CaptureRequest request, ShepherdProcess shepherd) {
        for (int attempt = 1; ; attempt++) {
            try {
                Capture capture = Capture.take(request);
                for (int snapshot : capture.snapshotPids()) {
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
        return first(restore(shepherd, Long.MAX_VALUE));
    }

    /** As {@link #restore}, but all memory that can wait comes in while the job runs. */
    Restored restoreLazily(ShepherdProcess shepherd) {
        return restore(shepherd, 1);
    }

    private Restored restore(ShepherdProcess shepherd, long lazyFrom) {
        try (Rollback files = Rollback.prepare(image, memory, new RollbackRequest("saved", false, List.of(), "", new long[0], Set.of()))) {
            files.swap();
            Restored restored = Restorer.restore(image, memory, new Target(shepherd), lazyFrom);
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

    private record Target(ShepherdProcess shepherd) implements RestoreTarget {
        @Override
        public void clock(long offsetNs) {
            shepherd.ask("clock " + offsetNs);
        }

        @Override
        public int stub(int pid) {
            return shepherd.ask("stub " + pid);
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
