package org.udckpt.image.write;

import java.io.Closeable;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Has processes write their memory by themselves, with as many writers at a time as there are stripe files: each
 * appends to one of its own, and here is noted what it says. After the first failure nothing more is written.
 */
final class SelfWriter implements Closeable {
    private final WriterOptions options;
    private final List<StripeFile> stripes;
    private final BlockingQueue<Integer> free = new LinkedBlockingQueue<>();
    private final ExecutorService threads;
    private final WriteOutcome outcome;
    private boolean used;

    SelfWriter(int node, WriterOptions options, List<StripeFile> stripes, WriteOutcome outcome) {
        this.outcome = outcome;
        this.options = options;
        this.stripes = stripes;
        for (int i = 0; i < stripes.size(); i++) {
            free.add(i);
        }
        AtomicInteger number = new AtomicInteger();
        threads = Executors.newFixedThreadPool(stripes.size(),
                task -> outcome.thread("udckpt-self-" + node + "-" + number.getAndIncrement(), options.courtesy(),
                        task));
    }

    /** How many writers each of so many processes should have. */
    int writers(int processes) {
        return Math.max(1, stripes.size() / Math.max(1, processes));
    }

    /** Whether a source is written by itself from now on. */
    boolean takes(SelfWritingSource source, int writers) {
        List<Integer> files = stripes.stream().map(stripe -> stripe.output().descriptor()).toList();
        return !files.contains(-1)
                && source.ready(files, stripes.getFirst().output().direct(), options.courtesy().background(), writers);
    }

    /** Queues a process that {@link #takes} said yes to; its result also fails with any other process's failure. */
    synchronized CompletableFuture<MemoryResult> submit(SelfWrittenMemory memory) {
        int begun = 0;
        used = true;
        outcome.expect(memory.result());
        try {
            for (; begun < memory.writers(); begun++) {
                int writer = begun;
                threads.execute(() -> write(memory, writer));
            }
        } catch (Throwable e) { // no thread is to be had
            outcome.fail(e);
            for (; begun < memory.writers(); begun++) {
                memory.ended(e);
            }
            throw e;
        }
        return memory.result();
    }

    /** Whether there is, or will be, anything in its stripe files. */
    synchronized boolean used() {
        return used;
    }

    private void write(SelfWrittenMemory memory, int writer) {
        try {
            int file = free.take();
            try {
                memory.write(writer, stripes.get(file), file, options.meter(), outcome::failed);
            } finally {
                free.add(file);
            }
        } catch (Throwable e) {
            outcome.fail(e);
        }
        memory.ended(outcome.failure());
    }

    /** Stops everything; unfinished processes fail. */
    @Override
    public void close() {
        outcome.fail(new CancellationException("the checkpoint was abandoned"));
        outcome.await();
        threads.close();
    }
}
