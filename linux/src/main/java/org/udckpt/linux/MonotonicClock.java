package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.udckpt.linux.LinuxConstants.CLOCK_BOOTTIME;
import static org.udckpt.linux.LinuxConstants.CLOCK_MONOTONIC;

/**
 * Clocks of clock_gettime(2) that nobody sets; System.nanoTime() promises no origin, and in a container /proc/uptime
 * may count from the container's start.
 */
public final class MonotonicClock {

    private MonotonicClock() {}

    /** Nanoseconds of CLOCK_MONOTONIC. */
    public static long now() {
        return read(CLOCK_MONOTONIC);
    }

    /** Nanoseconds of CLOCK_BOOTTIME, the clock of a process's start in /proc/PID/stat. */
    public static long sinceBoot() {
        return read(CLOCK_BOOTTIME);
    }

    private static long read(int clock) {
        LinuxError.check(Syscall.call(Syscall.CLOCK_GETTIME, clock, Scratch.data().address()), "clock_gettime");
        return Scratch.data().get(JAVA_LONG, 0) * 1_000_000_000L + Scratch.data().get(JAVA_LONG, 8);
    }
}
