package org.udckpt.linux;

import java.time.Duration;

/** Waits for the end of threads whose work nobody may go on without. */
public final class ThreadEnd {
    private ThreadEnd() {}

    /** Returns when it has ended, also where the caller is interrupted meanwhile: it stays interrupted then. */
    public static void await(Thread thread) {
        await(thread, System.nanoTime() + Long.MAX_VALUE);
    }

    /** The same, until then as System.nanoTime() has it at most. Whether it has ended. */
    public static boolean await(Thread thread, long end) {
        boolean interrupted = false;
        for (long left; thread.isAlive() && (left = end - System.nanoTime()) > 0;) {
            try {
                thread.join(Duration.ofNanos(left));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }
}
