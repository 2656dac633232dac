package org.udckpt.image.write;

import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;

/** How far the writing of one checkpoint is; read while it goes on. Thread-safe. */
public final class WriteMeter {
    private final LongAdder expected = new LongAdder();
    private final LongAdder done = new LongAdder();
    private final LongAdder stored = new LongAdder();
    private final Histogram latencies = new Histogram(3);

    /**
     * @param expected bytes of memory that were given to be written so far
     * @param done     of them those that are in stripe files or need not be
     * @param stored   bytes in stripe files, packed
     */
    public record Reading(long expected, long done, long stored) {}

    void expect(long bytes) {
        expected.add(bytes);
    }

    /** @param bytes of memory that are through; @param storedBytes that they take in stripe files, packed */
    void done(long bytes, long storedBytes) {
        stored.add(storedBytes);
        done.add(bytes);
    }

    void finished(Histogram stripe) {
        synchronized (latencies) {
            latencies.add(stripe);
        }
    }

    public Reading read() {
        long behind = done.sum(); // first, so that it is never more than what was expected
        return new Reading(expected.sum(), behind, stored.sum());
    }

    /** Adds the times of all writes to stripe files that are complete, in nanoseconds. */
    public void addLatencies(Histogram to) {
        synchronized (latencies) {
            to.add(latencies);
        }
    }
}
