package org.udckpt.process.capture;

import java.util.Arrays;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Injector;

/**
 * Whose CPU time a timer runs by (CLOCK_THREAD_CPUTIME_ID): the kernel does not tell. All threads stand still, so the
 * time that it has left changes only while its own thread makes calls.
 */
final class TimerClock {
    private static final int SPEC_BYTES = 32;

    private TimerClock() {}

    /**
     * The thread as the job numbers it.
     *
     * @param armed it has time left
     * @param notified the thread that it sends its signal to; 0: it sends it to none
     * @throws CaptureRefused nothing tells which one it is
     */
    static int thread(TracedProcess process, int timer, boolean armed, int notified) {
        if (process.threads.size() == 1) {
            return process.main().namespaceTid;
        }
        if (armed) {
            for (TracedThread thread : process.threads) {
                if (runs(process, thread.injector, timer)) {
                    return thread.namespaceTid;
                }
            }
        }
        if (notified == 0) {
            throw process.refuse("timer " + timer + " runs by the CPU time of a thread (CLOCK_THREAD_CPUTIME_ID), and "
                    + "is not armed, so that nothing tells of which one; delete it first, or arm it");
        }
        return notified;
    }

    /** Whether it has less time left after a call in this thread. */
    private static boolean runs(TracedProcess process, Injector thread, int timer) {
        return !Arrays.equals(left(process, thread, timer), left(process, thread, timer));
    }

    private static byte[] left(TracedProcess process, Injector thread, int timer) {
        long results = Parasite.results(process.main().frame);
        thread.check("timer_gettime", Syscall.TIMER_GETTIME, timer, results);
        return process.memory.readBytes(results, SPEC_BYTES);
    }
}
