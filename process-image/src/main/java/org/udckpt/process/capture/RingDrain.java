package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.Files;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.iouring.IoUring;
import org.udckpt.process.trace.Injector;

/**
 * Waits for what rings have in flight (io_uring(7)): reads and writes of disks come to their end while the job stands
 * still, but the kernel posts their completions only when the thread that has submitted them comes out of a system call
 * (and with IORING_SETUP_DEFER_TASKRUN: out of io_uring_enter(2)). So each thread makes one from time to time. What is
 * not complete after that, the ring's kind refuses.
 */
final class RingDrain {
    private static final long PROGRESS_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long MOST_NS = TimeUnit.SECONDS.toNanos(5);
    private static final int ENTER_GETEVENTS = 1;

    private final TracedProcess process;
    private final int[] rings;

    private RingDrain(TracedProcess process) {
        this.process = process;
        List<Integer> found = new ArrayList<>();
        for (int fd : Proc.descriptors(process.task())) {
            if (IoUring.LINK.equals(Files.readLink("/proc/" + process.task() + "/fd/" + fd))) {
                found.add(fd);
            }
        }
        rings = found.stream().mapToInt(Integer::intValue).toArray();
    }

    /** On their tracer thread, when calls can be made in all their threads. A process without a ring costs nothing. */
    static void drain(List<TracedProcess> processes) {
        for (TracedProcess process : processes) {
            if (concerns(process)) {
                new RingDrain(process).drain();
            }
        }
    }

    /** Whether it has a ring. */
    static boolean concerns(TracedProcess process) {
        return process.mappings.stream().anyMatch(mapping -> mapping.path().equals(IoUring.LINK));
    }

    private void drain() {
        long most = System.nanoTime() + MOST_NS;
        long deadline = System.nanoTime() + PROGRESS_NS;
        for (long last = inFlight(); last != 0; LockSupport.parkNanos(200_000)) {
            if (System.nanoTime() > deadline || System.nanoTime() > most) {
                return;
            }
            List<Injector> threads = process.threads.stream().map(thread -> thread.injector).toList();
            for (int ring : rings) {
                CallInAll.make(threads, _ -> new long[]{Syscall.IO_URING_ENTER, ring, 0, 0, ENTER_GETEVENTS, 0, 0});
            }
            long now = inFlight();
            deadline = now == last ? deadline : System.nanoTime() + PROGRESS_NS;
            last = now;
        }
    }

    /** Taken and not completed, of all rings. */
    private long inFlight() {
        long sum = 0;
        for (int ring : rings) {
            String info = Proc.whole("/proc/" + process.task() + "/fdinfo/" + ring);
            sum += Math.abs((int) (number(info, "CachedSqHead:") - number(info, "CachedCqTail:")));
        }
        return sum;
    }

    /** What an older kernel does not show, the ring's kind refuses. */
    private static long number(String info, String key) {
        String value = Proc.field(info, key);
        return value == null ? 0 : Long.parseLong(value);
    }
}
