package org.udckpt.image.storage;

import java.io.IOException;
import org.udckpt.linux.Syscall;

/**
 * Makes the calling thread one that gets only what nobody else wants. It is nice 19 and not SCHED_IDLE: a thread of
 * that policy can be kept from running for seconds, and the JVM's other threads, which answer the job, wait for it at
 * each safepoint.
 */
public final class BackgroundThread {
    /**
     * With 0 the calling thread: PRIO_PROCESS of setpriority(2), where Linux takes threads, and IOPRIO_WHO_PROCESS of
     * ioprio_set(2).
     */
    private static final long PRIO_PROCESS = 0;
    private static final long IOPRIO_WHO_PROCESS = 1;
    private static final long IOPRIO_CLASS_IDLE = 3L << 13;
    private static final long NICEST = 19;

    private BackgroundThread() {}

    /**
     * Takes the thread to the idle class of I/O and to nice 19, for the rest of its life: an ordinary user cannot go
     * back.
     *
     * @throws IOException naming the call that the system refuses
     */
    public static void become() throws IOException {
        call("ioprio_set", Syscall.IOPRIO_SET, IOPRIO_WHO_PROCESS, 0, IOPRIO_CLASS_IDLE);
        call("setpriority", Syscall.SETPRIORITY, PRIO_PROCESS, 0, NICEST);
    }

    private static void call(String name, long number, long a, long b, long c) throws IOException {
        long result = Syscall.call(number, a, b, c, 0, 0, 0);
        if (result < 0) {
            throw new IOException(name + ": " + Errno.text((int) -result));
        }
    }
}
