package org.udckpt.image.storage;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * A token bucket over bytes that go to storage. A writer claims its bytes, and waits by itself until they are due:
 * nothing is held meanwhile but the writer's own buffers. Whatever is claimed goes, however large, and the ones after
 * it pay: over any time t no more than {@code rate * (t + BURST)} and one claim pass. Thread-safe; all writers of a
 * node share one.
 */
public final class RateLimit {
    /** As fast as the storage takes it. */
    public static final RateLimit NONE = new RateLimit(Long.MAX_VALUE, System::nanoTime);

    /** What may be saved up while nothing is written. */
    static final long BURST_NS = 100_000_000;
    /** The longest nap, after which a writer looks whether it should still write. */
    private static final long NAP_NS = 100_000_000;

    private final long bytesPerSecond;
    private final LongSupplier clock;
    /** When all that was claimed until now is paid. */
    private long paid;

    /** @param bytesPerSecond at least 1 */
    public static RateLimit of(long bytesPerSecond) {
        return new RateLimit(bytesPerSecond, System::nanoTime);
    }

    /** @param clock monotonic nanoseconds, which may wrap */
    RateLimit(long bytesPerSecond, LongSupplier clock) {
        if (bytesPerSecond < 1) {
            throw new IllegalArgumentException(bytesPerSecond + " bytes a second: at least one");
        }
        this.bytesPerSecond = bytesPerSecond;
        this.clock = clock;
        this.paid = clock.getAsLong() - BURST_NS;
    }

    /** Claims bytes; returns how long to wait before they are written, in nanoseconds. */
    long claim(long bytes) {
        if (bytesPerSecond == Long.MAX_VALUE) {
            return 0;
        }
        synchronized (this) {
            long now = clock.getAsLong();
            long begin = Math.max(paid - now, -BURST_NS);
            paid = now + begin + (long) Math.ceil(bytes * 1e9 / bytesPerSecond);
            return Math.max(0, begin);
        }
    }

    /**
     * Claims bytes and waits until they are due, or until there is no use in writing them any more.
     *
     * @return whether they are due
     */
    public boolean await(long bytes, BooleanSupplier givenUp) {
        long wait = claim(bytes);
        long end = System.nanoTime() + wait;
        for (long left = wait; left > 0 && !givenUp.getAsBoolean(); left = end - System.nanoTime()) {
            LockSupport.parkNanos(Math.min(left, NAP_NS));
        }
        return !givenUp.getAsBoolean();
    }
}
