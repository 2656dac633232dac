package org.udckpt.image.write;

import java.io.Closeable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Has processes write their memory by themselves, with as many writers at a time as there are stripe files: each appends to one of
 * its own, and here is noted what it says. After the first failure nothing more is written.
 */
final class SelfWriter implements Closeable {
    private final WriterOptions options;
    private final List<StripeFile> stripes;
    private final BlockingQueue<Integer> free = new LinkedBlockingQueue<>();
    private final ExecutorService threads;
    private final List<CompletableFuture<MemoryResult>> results = new ArrayList<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    SelfWriter(int node, WriterOptions options, List<StripeFile> stripes) {
        this.options = options;
        this.stripes = stripes;
        for (int i = 0; i < stripes.size(); i++) {
            free.add(i);
        }
        threads = Executors.newFixedThreadPool(stripes.size(), Thread.ofPlatform().daemon().name("udckpt-self-" + node + "-", 0).factory());
    }

    /** How many writers each of so many processes should have. */
    int writers(int processes) {
        return Math.max(1, stripes.size() / Math.max(1, processes));
    }

    /** Whether a source is written by itself from now on. */
    boolean takes(SelfWritingSource source, int writers) {
        List<Path> files = stripes.stream().map(stripe -> stripe.output().path()).toList();
        return !files.contains(null) && source.ready(files, stripes.getFirst().output().direct(), options.courtesy().background(), writers);
    }

    /** Queues a process that {@link #takes} said yes to; its result also fails with any other process's failure. */
    synchronized CompletableFuture<MemoryResult> submit(SelfWrittenMemory memory) {
        int begun = 0;
        try {
            for (; begun < memory.writers(); begun++) {
                int writer = begun;
                threads.execute(() -> write(memory, writer));
            }
        } catch (Throwable e) { // no thread is to be had
            fail(e);
            for (; begun < memory.writers(); begun++) {
                memory.ended(e);
            }
            throw e;
        } finally {
            results.add(memory.result());
        }
        return memory.result();
    }

    /** Whether there is, or will be, anything in its stripe files. */
    synchronized boolean used() {
        return !results.isEmpty();
    }

    private void write(SelfWrittenMemory memory, int writer) {
        try {
            int file = free.take();
            try {
                memory.write(writer, stripes.get(file), file, options.meter(), () -> failure.get() != null);
            } finally {
                free.add(file);
            }
        } catch (Throwable e) {
            fail(e);
        }
        memory.ended(failure.get());
    }

    /** The first thing that went wrong, null as long as nothing has. */
    Throwable failure() {
        return failure.get();
    }

    private void fail(Throwable cause) {
        failure.compareAndSet(null, cause);
    }

    /** Waits for all processes queued so far; their failures are in {@link #failure()}. */
    void await() {
        List<CompletableFuture<MemoryResult>> queued;
        synchronized (this) {
            queued = List.copyOf(results);
        }
        for (CompletableFuture<MemoryResult> result : queued) {
            result.handle((value, error) -> null).join();
        }
    }

    /** Stops everything; unfinished processes fail. */
    @Override
    public void close() {
        fail(new CancellationException("the checkpoint was given up"));
        await();
        threads.close();
    }
}
