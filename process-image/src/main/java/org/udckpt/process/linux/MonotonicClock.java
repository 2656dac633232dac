package org.udckpt.process.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** CLOCK_MONOTONIC as clock_gettime(2) tells it; System.nanoTime() does not promise the same origin. */
public final class MonotonicClock {
    private static final int CLOCK_MONOTONIC = 1;

    private MonotonicClock() {}

    /** Nanoseconds. */
    public static long now() {
        LinuxError.check(Syscall.call(Syscall.CLOCK_GETTIME, CLOCK_MONOTONIC, Scratch.data().address()), "clock_gettime");
        return Scratch.data().get(JAVA_LONG, 0) * 1_000_000_000L + Scratch.data().get(JAVA_LONG, 8);
    }
}
