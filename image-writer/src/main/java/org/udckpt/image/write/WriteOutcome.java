package org.udckpt.image.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.udckpt.image.storage.Courtesy;

/**
 * What becomes of a node's memory, in whichever way its processes are written: the first failure is that of all.
 * Thread-safe.
 */
final class WriteOutcome {
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final List<CompletableFuture<MemoryResult>> results = new ArrayList<>();

    /** The first thing that went wrong, null as long as nothing has. */
    Throwable failure() {
        return failure.get();
    }

    boolean failed() {
        return failure.get() != null;
    }

    void fail(Throwable cause) {
        failure.compareAndSet(null, cause);
    }

    /** {@link #await} waits for it too: it must be completed, come what may. */
    void expect(CompletableFuture<MemoryResult> result) {
        synchronized (results) {
            results.add(result);
        }
    }

    /** Waits for all processes so far; their failures are in {@link #failure()}. */
    void await() {
        List<CompletableFuture<MemoryResult>> all;
        synchronized (results) {
            all = List.copyOf(results);
        }
        for (CompletableFuture<MemoryResult> result : all) {
            result.handle((value, error) -> null).join();
        }
    }

    /**
     * A thread, not started, that begins as {@code courtesy} asks; if it may not, that is a failure, and it goes on:
     * others wait for it.
     */
    Thread thread(String name, Courtesy courtesy, Runnable task) {
        return Thread.ofPlatform().daemon().name(name).unstarted(() -> {
            try {
                courtesy.begin();
            } catch (IOException | RuntimeException | Error e) {
                fail(e);
            }
            task.run();
        });
    }
}
