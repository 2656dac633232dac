package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.SIGCONT;
import static org.udckpt.linux.LinuxConstants.SIGSTOP;
import static org.udckpt.linux.LinuxConstants.SIGTRAP;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.capture.JobTracers.Traced;
import org.udckpt.process.trace.Ptrace;

/**
 * Makes one thread of the job let go of threads that it traces, by PTRACE_DETACH in its name, which the kernel takes
 * only from it and only while the tracee is stopped. A tracee that runs is stopped first: by PTRACE_INTERRUPT, or,
 * where it was attached in the old way (PTRACE_ATTACH, PTRACE_TRACEME), by a SIGSTOP, which is taken back.
 */
final class TracerDetach {
    /** In struct user (sys/user.h): the register that turns hardware breakpoints on. */
    private static final long DR7 = 848 + 7 * 8;
    private static final int POKEUSER = 6;
    private static final int SIGINFO = 128, CODE = 8, PID = 16;
    /** si_code: of tgkill(2), of the kernel's; and what codes of true signals stay below (others tell of an event). */
    private static final int BY_THREAD = -6, BY_KERNEL = 0x80, EVENT = 0x100;
    private static final String STOPPED = "t"; // proc_pid_stat(5): tracing stop
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10), PAUSE_NS = 100_000;
    private static final int OWN_PID = (int) ProcessHandle.current().pid();

    private final TracedProcess tracer;
    private final TracedThread thread;

    private TracerDetach(TracedProcess tracer, TracedThread thread) {
        this.tracer = tracer;
        this.thread = thread;
    }

    /** On a tracer thread. @param tracees of that thread */
    static void make(TracedProcess tracer, int tid, List<Traced> tracees) {
        try {
            new Stopper(new TimedCalls()).stopAlone(tracer, tid);
            TracedThread thread = tracer.main();
            tracer.memory = new ProcessMemory(tracer.pid);
            tracer.mappings = Mapping.of(tracer.pid);
            tracer.parasite = Parasite.locate(tracer);
            tracer.status = Proc.whole("/proc/" + tracer.pid + "/task/" + tid + "/status");
            tracer.pendingSignals = Ptrace.pendingSignals(tid, true);
            ThreadReader.read(tracer, thread);
            CallFilters.read(tracer);
            ThreadReader.ask(List.of(tracer));
            TracerDetach detach = new TracerDetach(tracer, thread);
            tracees.forEach(detach::letGo);
        } finally {
            ProcessResume.all(List.of(tracer));
        }
    }

    private void letGo(Traced tracee) {
        int number = number(tracee);
        long interrupted = request(Ptrace.INTERRUPT, number, 0, 0);
        boolean sent = interrupted == -LinuxError.EIO && !stopped(tracee);
        if (sent) {
            Syscall.call(Syscall.TGKILL, tracee.pid(), tracee.tid(), SIGSTOP);
        }
        for (long deadline = System.nanoTime() + TIMEOUT_NS; traces(tracee);) {
            if (stopped(tracee) && letGo(tracee, number)) {
                return;
            }
            if (System.nanoTime() > deadline) {
                takeBack(tracee, sent);
                throw new CaptureFailed("%s traces thread %d of process %d, which does not stop to be detached (it may "
                        + "be in vfork or in uninterruptible I/O)".formatted(tracer, tracee.tid(), tracee.pid()));
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    /** False: it was not stopped, or is to stop once more, or has gone. */
    private boolean letGo(Traced tracee, int number) {
        long results = Parasite.results(thread.frame);
        long told = request(Ptrace.GETSIGINFO, number, 0, results);
        if (told < 0 && told != -LinuxError.EINVAL) { // EINVAL: a stop of job control, which has no siginfo
            return absent("PTRACE_GETSIGINFO", told);
        }
        MemorySegment info = Scratch.data().asSlice(0, SIGINFO);
        info.fill((byte) 0);
        if (told == 0) {
            tracer.memory.read(results, info);
        }
        int signal = debuggersStop(info) ? 0 : delivered(info.get(JAVA_INT, 0), info.get(JAVA_INT, CODE));
        if (stopIsToCome(tracee)) {
            return absent("PTRACE_CONT", request(Ptrace.CONT, number, 0, signal));
        }
        request(POKEUSER, number, DR7, 0);
        long detached = request(Ptrace.DETACH, number, 0, signal);
        return detached == 0 || absent("PTRACE_DETACH", detached);
    }

    /** False; ESRCH is a tracee that is not stopped any more. */
    private boolean absent(String request, long result) {
        if (result < 0 && result != -LinuxError.ESRCH) {
            LinuxError.check(result, request + " in ", thread.tid);
        }
        return false;
    }

    /** Which signal a tracee is about to get; 0: it stopped for another reason. SIGTRAP is its debugger's. */
    private static int delivered(int signal, int code) {
        return signal == SIGTRAP || code >= EVENT ? 0 : signal;
    }

    /**
     * A SIGSTOP that only stops a thread for its tracer: of PTRACE_ATTACH (from the kernel), of the tracer's tgkill(2),
     * or of this process's. The sender's number is 0 in a namespace that it is outside of.
     */
    private boolean debuggersStop(MemorySegment info) {
        int code = info.get(JAVA_INT, CODE);
        int sender = info.get(JAVA_INT, PID);
        String[] tracers = Proc.field(tracer.status, "NStgid:").split("\\s+");
        boolean sent = sender == 0 || sender == OWN_PID || tracers[tracers.length - 1].equals(Integer.toString(sender));
        return info.get(JAVA_INT, 0) == SIGSTOP && (code == BY_KERNEL || code == BY_THREAD && sent);
    }

    /** Whether such a SIGSTOP waits for the thread alone: it would be stopped by it without its tracer. */
    private static boolean stopIsToCome(Traced tracee) {
        try {
            String pending = TaskStatus.of(tracee.pid(), tracee.tid()).field("SigPnd:");
            return (Long.parseUnsignedLong(pending, 16) >> SIGSTOP - 1 & 1) != 0;
        } catch (LinuxError ended) {
            return false;
        }
    }

    private long request(int request, int number, long address, long data) {
        return thread.injector.call(Syscall.PTRACE, request, number, address, data);
    }

    /** SIGCONT takes a SIGSTOP away that no thread has seen yet. */
    private static void takeBack(Traced tracee, boolean sent) {
        if (sent) {
            Syscall.call(Syscall.TGKILL, tracee.pid(), tracee.tid(), SIGCONT);
        }
    }

    /** As the tracer numbers it. */
    private int number(Traced tracee) {
        try {
            int depth = numbers(tracer.status).length;
            return Integer.parseInt(numbers(TaskStatus.of(tracee.pid(), tracee.tid()).toString())[depth - 1]);
        } catch (LinuxError ended) {
            return Integer.MAX_VALUE; // nobody's number
        }
    }

    private static String[] numbers(String status) {
        return Proc.field(status, "NSpid:").split("\\s+");
    }

    private static boolean stopped(Traced tracee) {
        try {
            return STOPPED.equals(Proc.threadState(tracee.pid(), tracee.tid()));
        } catch (LinuxError ended) {
            return false;
        }
    }

    private static boolean traces(Traced tracee) {
        return JobTracers.tracerOf(tracee.pid(), tracee.tid()) == tracee.tracer();
    }
}
