package org.udckpt.image.write;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.udckpt.image.Range;
import org.udckpt.image.key.BlockTags;

/** One process that writes its memory by itself, with one or more writers. */
final class SelfWrittenMemory {
    private final int process;
    private final long bytes;
    private final RangeCursor cursor;
    private final SelfWritingSource source;
    private final ImageForm form;
    private final BlockTags tags;
    private final ProcessPages previous;
    private final int writers;
    private final AtomicInteger left;
    private final LongAdder zeroBytes = new LongAdder();
    private final LongAdder sameBytes = new LongAdder();
    private final LongAdder storedBytes = new LongAdder();
    private final CompletableFuture<MemoryResult> result = new CompletableFuture<>();
    private final long begin = System.nanoTime();

    /**
     * @param form     of the checkpoint
     * @param tags     of its blocks; null: they have none
     * @param previous what older checkpoints have of it; null: nothing
     * @param writers  that the source has
     */
    SelfWrittenMemory(int process, List<Range> ranges, SelfWritingSource source, ImageForm form, BlockTags tags,
            ProcessPages previous, int writers) {
        this.process = process;
        this.bytes = ranges.stream().mapToLong(Range::length).sum();
        this.cursor = new RangeCursor(ranges);
        this.source = source;
        this.form = form;
        this.tags = tags;
        this.previous = previous;
        this.writers = writers;
        this.left = new AtomicInteger(writers);
    }

    CompletableFuture<MemoryResult> result() {
        return result;
    }

    int writers() {
        return writers;
    }

    int process() {
        return process;
    }

    SelfWritingSource source() {
        return source;
    }

    ImageForm form() {
        return form;
    }

    BlockTags tags() {
        return tags;
    }

    ProcessPages previous() {
        return previous;
    }

    /** A block is through. */
    void count(PageRuns runs) {
        zeroBytes.add(runs.bytes(PageRuns.Kind.ZERO));
        sameBytes.add(runs.bytes(PageRuns.Kind.SAME));
        storedBytes.add(runs.bytes(PageRuns.Kind.STORED));
    }

    /** Has one writer write, together with the others, until all is written or {@code givenUp}. */
    void write(int writer, StripeFile stripe, int file, WriteMeter meter, BooleanSupplier givenUp) throws IOException {
        SelfWrittenBlock block = new SelfWrittenBlock(this, writer, stripe, file);
        while (!givenUp.getAsBoolean() && block.next(cursor)) {
            long stored = block.write(givenUp);
            meter.done(block.bytes(), stored);
        }
    }

    /** One of the writers has returned from {@link #write}. @param failure null: nothing has failed so far */
    void ended(Throwable failure) {
        int others = left.decrementAndGet();
        if (failure != null) {
            result.completeExceptionally(failure);
        } else if (others == 0) {
            result.complete(new MemoryResult(process, bytes, 0, zeroBytes.sum(), sameBytes.sum(), storedBytes.sum(),
                    System.nanoTime() - begin));
        }
    }
}
