package org.udckpt.process.restore.lazy;

import java.util.concurrent.CompletableFuture;

/** The memory of a restored job that comes in while the job runs. Closing it before the end ends the job. */
public sealed interface Filling extends AutoCloseable permits LazyMemory, Filling.Nothing {
    /** Everything was there before the start. */
    Filling NOTHING = new Nothing();

    /** Bytes that were to be filled at the start. */
    long bytes();

    /** How many of them are not in yet: those of forked children count as well. */
    long missing();

    /**
     * Ends when all is in, or with what went wrong: an image that cannot be read is an UncheckedIOException. Then the
     * job must be ended: its threads wait for ever.
     */
    CompletableFuture<Void> filled();

    @Override
    void close();

    /** See {@link #NOTHING}. */
    record Nothing() implements Filling {
        @Override
        public long bytes() {
            return 0;
        }

        @Override
        public long missing() {
            return 0;
        }

        @Override
        public CompletableFuture<Void> filled() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void close() {}
    }
}
