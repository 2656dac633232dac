package org.udckpt.image.write;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.udckpt.image.Range;

/** One process's memory on its way through the pipeline: what is to be read, and how much is not yet written. */
final class MemoryJob {
    private final int process;
    private final List<Range> ranges;
    private final PageSource source;
    private final ProcessPages previous;
    private final CompletableFuture<MemoryResult> result = new CompletableFuture<>();
    /** Slots published and not yet written, and one for the producer. */
    private final AtomicLong pending = new AtomicLong(1);
    private final AtomicLong zeroBytes = new AtomicLong();
    private final AtomicLong sameBytes = new AtomicLong();
    private final AtomicLong plainBytes = new AtomicLong();
    private final AtomicLong storedBytes = new AtomicLong();
    private volatile long begin;

    /** @param previous what older checkpoints have of it; null: nothing */
    MemoryJob(int process, List<Range> ranges, PageSource source, ProcessPages previous) {
        this.process = process;
        this.previous = previous;
        this.ranges = ranges;
        this.source = source;
    }

    int process() {
        return process;
    }

    ProcessPages previous() {
        return previous;
    }

    CompletableFuture<MemoryResult> result() {
        return result;
    }

    /** Reads everything into slots, in the calling thread. A failure goes to {@code pipeline}. */
    void produce(MemoryPipeline pipeline) {
        begin = System.nanoTime();
        Cursor cursor = new Cursor();
        while (cursor.range < ranges.size() && !pipeline.outcome().failed()) {
            pending.incrementAndGet();
            pipeline.publish(slot -> fill(slot, cursor, pipeline));
        }
        done(pipeline);
    }

    /** Where reading stands. */
    private static final class Cursor {
        int range;
        long offset;
    }

    private void fill(Slot slot, Cursor cursor, MemoryPipeline pipeline) {
        try {
            slot.begin(this);
            while (slot.room() > 0 && cursor.range < ranges.size()) {
                Range range = ranges.get(cursor.range);
                int length = (int) Math.min(slot.room(), range.length() - cursor.offset);
                long address = range.address() + cursor.offset;
                long got = source.read(address, slot.next(length));
                if (got != length) {
                    throw new IOException("process " + process + ": " + got + " of " + length + " bytes at 0x"
                            + Long.toHexString(address) + " could be read");
                }
                slot.filled(address, length);
                cursor.offset += length;
                if (cursor.offset == range.length()) {
                    cursor.range++;
                    cursor.offset = 0;
                }
            }
        } catch (Throwable e) {
            pipeline.outcome().fail(e);
        }
    }

    /** A slot of this process was written, or given up after a failure. */
    void written(Slot slot, MemoryPipeline pipeline) {
        zeroBytes.addAndGet(slot.bytes(PageRuns.Kind.ZERO));
        sameBytes.addAndGet(slot.bytes(PageRuns.Kind.SAME));
        plainBytes.addAndGet(slot.bytes(PageRuns.Kind.STORED));
        storedBytes.addAndGet(slot.storedBytes());
        pipeline.meter().done(slot.bytes(), slot.storedBytes());
        done(pipeline);
    }

    private void done(MemoryPipeline pipeline) {
        if (pending.decrementAndGet() > 0) {
            return;
        }
        Throwable failure = pipeline.outcome().failure();
        if (failure != null) {
            result.completeExceptionally(failure);
        } else {
            result.complete(new MemoryResult(process, zeroBytes.get() + sameBytes.get() + plainBytes.get(),
                    0, zeroBytes.get(), sameBytes.get(), storedBytes.get(),
                    System.nanoTime() - begin));
        }
    }
}
