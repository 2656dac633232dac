package org.udckpt.linux;

/** Waits for the end of threads whose work nobody may go on without. */
public final class ThreadEnd {
    private ThreadEnd() {}

    /** Returns when it has ended, also where the caller is interrupted meanwhile: it stays interrupted then. */
    public static void await(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
