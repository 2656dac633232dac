package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.Proc;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.Registers;

/**
 * Keeps threads from being captured in the middle of the kernel's own code, the vDSO: under another kernel they could
 * not go on from there. Its functions take a microsecond, so a thread that was stopped in one is let go for a moment
 * and stopped again. One that calls nothing else may be caught there every time: after a while it stays, and only its
 * image is bound to this kernel.
 */
final class VdsoExit {
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(50), PAUSE_NS = 20_000,
            PAUSE_MOST_NS = 2_000_000;

    private final TracedProcess process;
    private long start = -1;
    private long end;
    private long deadline;
    private long pauseNs = PAUSE_NS;

    VdsoExit(TracedProcess process) {
        this.process = process;
    }

    /**
     * Lets the stopped threads go that are in the vDSO, and interrupts them again: they are to be awaited. False: there
     * is none. An interrupt that comes before a thread has a processor stops it where it was, so each round waits
     * longer than the last.
     */
    boolean again() {
        if (start == -1) {
            find();
        }
        List<TracedThread> inside = new ArrayList<>();
        for (TracedThread thread : process.threads) {
            long rip = thread.registers.get(Registers.RIP);
            if (rip >= start && rip < end && !thread.jobStopped) {
                inside.add(thread);
            }
        }
        if (inside.isEmpty() || System.nanoTime() >= deadline) {
            return false;
        }
        for (TracedThread thread : inside) {
            thread.stopped = false;
            Ptrace.resume(Ptrace.CONT, thread.tid, 0);
        }
        LockSupport.parkNanos(pauseNs);
        pauseNs = Math.min(2 * pauseNs, PAUSE_MOST_NS);
        inside.forEach(thread -> Ptrace.interrupt(thread.tid));
        return true;
    }

    /** From the line of /proc/PID/maps; all lines are parsed later, when nothing changes any more. */
    private void find() {
        String maps = Proc.text("/proc/" + process.task() + "/maps");
        int name = maps.indexOf("[vdso]");
        if (name < 0) {
            start = end = 0;
            return;
        }
        int line = maps.lastIndexOf('\n', name) + 1;
        int dash = maps.indexOf('-', line);
        start = Long.parseUnsignedLong(maps, line, dash, 16);
        end = Long.parseUnsignedLong(maps, dash + 1, maps.indexOf(' ', dash), 16);
        deadline = System.nanoTime() + TIMEOUT_NS;
    }
}
