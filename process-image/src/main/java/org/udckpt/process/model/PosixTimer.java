package org.udckpt.process.model;

/**
 * A timer of timer_create(2).
 *
 * @param notification SIGEV_SIGNAL 0, SIGEV_NONE 1, SIGEV_THREAD_ID 4
 * @param notifyThread tid for SIGEV_THREAD_ID; where the clock is a thread's CPU time, it is this one's, unless
 *        {@link AttributeKind#TIMER_CLOCK} names another
 * @param value sigev_value
 * @param expiresNs time until it expires, 0: not armed
 */
public record PosixTimer(int pid, int timer, int clock, int notification, int signal, int notifyThread, long value,
        long expiresNs, long intervalNs) {
    /**
     * CLOCK_THREAD_CPUTIME_ID, as the caller has it or (kernel/time/posix-cpu-timers.c, THREAD_CLOCK) as the kernel
     * shows it: of the thread that made it.
     */
    public static boolean ofThread(int clock) {
        return clock == 3 || clock == -2;
    }
}
