package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;

/**
 * This process's threads before all ordinary ones of the machine (SCHED_FIFO; sched(7)), while a job stands still for
 * it: ranks that poll, and whatever else runs, would have them wait for each of their turns. Where the system does not
 * allow that, they go on as they are. Threads with a nice value are left alone, as they are in no hurry, and so are the
 * JVM's compilers. What these threads start is ordinary again. One at a time in a process.
 */
public final class RealTimeThreads implements AutoCloseable {
    private static final int SCHED_OTHER = 0, SCHED_FIFO = 1, RESET_ON_FORK = 0x40000000;
    private static final int LOWEST = 1;
    private static final int PRIO_PROCESS = 0, NICE_ZERO = 20; // getpriority(2) of the kernel: 20 - nice

    private static RealTimeThreads current;

    private final Set<Integer> threads = new HashSet<>();

    private RealTimeThreads() {}

    /** Until it is closed. */
    public static synchronized RealTimeThreads begin() {
        if (current != null) {
            throw new IllegalStateException("the last one is not closed");
        }
        current = new RealTimeThreads();
        int self = (int) ProcessHandle.current().pid();
        for (int thread : Proc.threads(self)) {
            if (!compiles(thread) && !current.add(thread)) {
                break;
            }
        }
        return current;
    }

    /** By its name in HotSpot. */
    private static boolean compiles(int thread) {
        try {
            return Proc.text("/proc/self/task/" + thread + "/comm").contains(" CompilerThre");
        } catch (LinuxError ended) {
            return true;
        }
    }

    /** The calling thread was started meanwhile, for the same purpose. */
    public static synchronized void join() {
        if (current != null && !current.threads.isEmpty()) {
            current.add((int) Syscall.call(Syscall.GETTID));
        }
    }

    /** False: not allowed. */
    private boolean add(int thread) {
        if (Syscall.call(Syscall.GETPRIORITY, PRIO_PROCESS, thread) != NICE_ZERO
                || (Syscall.call(Syscall.SCHED_GETSCHEDULER, thread) & ~RESET_ON_FORK) != SCHED_OTHER) {
            return true;
        }
        long result = set(thread, SCHED_FIFO, LOWEST);
        if (result == 0) {
            threads.add(thread);
        }
        return result != -LinuxError.EPERM;
    }

    /** All that was begun is undone. */
    @Override
    public void close() {
        synchronized (RealTimeThreads.class) {
            if (current == this) {
                current = null;
                for (int thread : Proc.threads((int) ProcessHandle.current().pid())) {
                    if (threads.remove(thread)) { // the number of one that has ended may be another process's by now
                        set(thread, SCHED_OTHER, 0);
                    }
                }
                threads.clear();
            }
        }
    }

    /** The flag stays, as only a privileged process may take it off; it changes nothing of ordinary threads. */
    private static long set(int thread, int policy, int priority) {
        MemorySegment parameter = Scratch.data();
        parameter.set(JAVA_INT, 0, priority);
        return Syscall.call(Syscall.SCHED_SETSCHEDULER, thread, policy | RESET_ON_FORK, parameter.address());
    }
}
