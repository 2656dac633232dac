package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.SIGSTOP;

import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.WaitStatus;

/**
 * Lets stopped processes go on exactly where they were. Also after a failure at any point: it never throws for a dead
 * thread.
 */
final class ProcessResume {
    private static final long PAUSE_NS = 50_000;

    private ProcessResume() {}

    static void all(List<TracedProcess> processes) {
        // children first: a parent in waitpid must not see a child that is still traced
        for (TracedProcess process : processes.reversed()) {
            for (TracedThread thread : process.threads) {
                release(process, thread);
            }
            if (process.memory != null) {
                process.memory.close();
                process.memory = null;
            }
        }
    }

    private static void release(TracedProcess process, TracedThread thread) {
        try {
            if (!thread.stopped) {
                awaitAny(thread);
            }
            // the mask first: until the registers are back, the frame would restore the mask, but not the reverse
            if (thread.masked) {
                Ptrace.setSignalMask(thread.tid, thread.signalMask);
            }
            if (thread.stopped) {
                Ptrace.setRegisters(thread.tid, thread.registers);
            }
            Ptrace.resume(Ptrace.DETACH, thread.tid, 0);
            if (thread.heldStop || thread.injector != null && thread.injector.heldStop()) {
                Syscall.call(Syscall.TGKILL, process.pid, thread.tid, SIGSTOP);
            }
        } catch (LinuxError gone) {
            if (gone.errno() != LinuxError.ESRCH && gone.errno() != LinuxError.ECHILD) {
                throw gone;
            }
        }
    }

    /**
     * A thread that was interrupted but not yet seen to stop; if it does not soon, the end of the tracer thread frees
     * it.
     */
    private static void awaitAny(TracedThread thread) {
        for (int round = 0; round < 1000; round++) {
            WaitStatus status = Ptrace.poll(thread.tid);
            if (status != null && (status.interrupted() || status.ended())) {
                return;
            }
            if (status != null) {
                Ptrace.resume(Ptrace.CONT, thread.tid, status.signalDelivery() ? status.signal() : 0);
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }
}
