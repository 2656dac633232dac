package org.udckpt.image.write;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.udckpt.image.Range;

/** One process that writes its memory by itself, with one or more writers. */
final class SelfWrittenMemory {
    private final int process;
    private final long bytes;
    private final RangeCursor cursor;
    private final SelfWritingSource source;
    private final boolean digests;
    private final int writers;
    private final AtomicInteger left;
    private final LongAdder storedBytes = new LongAdder();
    private final CompletableFuture<MemoryResult> result = new CompletableFuture<>();
    private final long begin = System.nanoTime();

    /** @param digests blocks have one, besides their checksum; @param writers that the source has */
    SelfWrittenMemory(int process, List<Range> ranges, SelfWritingSource source, boolean digests, int writers) {
        this.process = process;
        this.bytes = ranges.stream().mapToLong(Range::length).sum();
        this.cursor = new RangeCursor(ranges);
        this.source = source;
        this.digests = digests;
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

    boolean digests() {
        return digests;
    }

    /** Has one writer write, together with the others, until all is written or {@code givenUp}. */
    void write(int writer, StripeFile stripe, int file, WriteMeter meter, BooleanSupplier givenUp) throws IOException {
        SelfWrittenBlock block = new SelfWrittenBlock(this, writer, stripe, file);
        while (!givenUp.getAsBoolean() && block.next(cursor)) {
            long stored = block.write(givenUp);
            storedBytes.add(stored);
            meter.done(block.bytes(), stored);
        }
    }

    /** One of the writers has returned from {@link #write}. @param failure null: nothing has failed so far */
    void ended(Throwable failure) {
        int others = left.decrementAndGet();
        if (failure != null) {
            result.completeExceptionally(failure);
        } else if (others == 0) {
            long stored = storedBytes.sum();
            result.complete(new MemoryResult(process, bytes, bytes - stored, 0, stored, System.nanoTime() - begin));
        }
    }
}
