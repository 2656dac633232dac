package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.SIGTRAP;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.Registers;
import org.udckpt.process.trace.WaitStatus;

/**
 * Stops a tree of processes, parents first: a stopped process makes no more children, and a vfork'ed child is left
 * running until its parent, which waits for its exec, has stopped too.
 */
final class Stopper {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long END_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final int USER_CODE_64 = 0x33;
    private static final int SPINS = 20;
    /** Pauses of one length, from the shortest to the longest, twice as long each time. */
    private static final int PAUSES = 4, LENGTHS = 4;
    private static final long PAUSE_NS = 50_000;
    /** Until then a thread that stops has mostly done so; what else it may do costs more to find out. */
    private static final int USUAL = SPINS + PAUSES * LENGTHS;

    private final List<TracedProcess> stopped = new ArrayList<>();
    private final List<Integer> zombies = new ArrayList<>();
    private final Set<Integer> known = new HashSet<>();
    private final TimedCalls calls;

    Stopper(TimedCalls calls) {
        this.calls = calls;
    }

    /** All processes of the tree that were seized so far, parents first; also after a failure. */
    List<TracedProcess> processes() {
        return stopped;
    }

    /** Children that had ended already, as the agent numbers them. */
    List<Integer> zombies() {
        return zombies;
    }

    void stop(CaptureRequest.Root root) {
        stop(TracedProcess.root(root));
    }

    /** A tree whose first process has lost its parent. */
    void adopt(CaptureRequest.Root root, int pid) {
        if (known.add(pid) && !over(pid)) {
            stop(TracedProcess.orphan(root, pid));
        }
    }

    /** One thread of a process, while the others run on. */
    void stopAlone(TracedProcess process, int tid) {
        TracedThread thread = seize(process, tid);
        if (thread == null || !awaitStop(process, thread, System.nanoTime() + TIMEOUT_NS)) {
            throw new CaptureFailed("%s: thread %d ended before it could be stopped".formatted(process, tid));
        }
    }

    private void stop(TracedProcess process) {
        stopped.add(process);
        long deadline = System.nanoTime() + TIMEOUT_NS;
        VdsoExit vdso = new VdsoExit(process);
        while (seizeNew(process) || vdso.again()) {
            for (int i = 0; i < process.threads.size();) {
                TracedThread thread = process.threads.get(i);
                if (thread.stopped || awaitStop(process, thread, deadline)) {
                    if (isWorker(process, thread)) {
                        Ptrace.resume(Ptrace.DETACH, thread.tid, 0);
                        process.workers.add(process.threads.remove(i).tid);
                    } else {
                        i++;
                    }
                } else {
                    process.threads.remove(i);
                }
            }
        }
        if (process.threads.isEmpty()) {
            ended(process);
            return;
        }
        if (process.main().tid != process.pid) {
            EndedMain.found(process);
        }
        while (stopChildren(process)) {
            // /proc/PID/task/TID/children leaves out some while others end (proc(5)): until it shows no new one
        }
    }

    /** False when there is no child that was not known. */
    private boolean stopChildren(TracedProcess process) {
        boolean any = false;
        for (int child : Proc.children(process.pid)) {
            if (!known.add(child)) {
                continue;
            }
            any = true;
            if (over(child)) {
                zombies.add(child);
            } else {
                stop(process.child(child));
            }
        }
        return any;
    }

    /** A child may end between the stop of its parent and its own: then it waits, as a zombie, to be waited for. */
    private void ended(TracedProcess process) {
        if (process.parent == null) {
            throw new CaptureFailed(process + " ended before it could be stopped");
        }
        stopped.remove(process);
        zombies.add(process.pid);
    }

    /** Seizes and interrupts the threads that are not known yet; false when there is none. */
    private static boolean seizeNew(TracedProcess process) {
        boolean any = false;
        for (int tid : Proc.threads(process.pid)) {
            if (known(process, tid)) {
                continue;
            }
            any |= seize(process, tid) != null;
        }
        return any;
    }

    /** Null: it has ended. */
    private static TracedThread seize(TracedProcess process, int tid) {
        TracedThread thread = new TracedThread(tid);
        long result = Ptrace.request(Ptrace.SEIZE, tid, 0, thread.traceOptions);
        if (result == -LinuxError.ESRCH || result == -LinuxError.EPERM && ends(process.pid, tid)) {
            return null;
        }
        if (result < 0) {
            throw refusal(process, tid, (int) -result);
        }
        process.threads.add(thread);
        Ptrace.interrupt(tid);
        return thread;
    }

    /**
     * A thread that was never outside of the kernel, which works for the process (io_uring(7)), goes on: it is no part
     * of it.
     */
    private static boolean isWorker(TracedProcess process, TracedThread thread) {
        return thread.registers.get(Registers.RIP) == 0 && thread.registers.get(Registers.RSP) == 0
                && Proc.isWorker(process.pid, thread.tid);
    }

    /**
     * Whether a thread that cannot be seized is one that has ended (ptrace(2): EPERM). A main thread's end is that of
     * the process, for which the others are awaited, unless there is one that does not end.
     */
    private static boolean ends(int pid, int tid) {
        for (long deadline = System.nanoTime() + END_NS; System.nanoTime() < deadline; LockSupport.parkNanos(50_000)) {
            if (over(pid)) {
                return true;
            }
            boolean ended = ended(pid, tid);
            if (!ended || tid != pid || !CaptureErrors.endsWhole(pid)) {
                return ended;
            }
        }
        return false;
    }

    /** A zombie without other threads. */
    private static boolean over(int pid) {
        try {
            return Proc.stat(pid)[0].equals("Z") && Proc.threads(pid).length <= 1;
        } catch (LinuxError gone) {
            return true;
        }
    }

    private static boolean known(TracedProcess process, int tid) {
        if (process.workers.contains(tid)) {
            return true;
        }
        for (TracedThread thread : process.threads) {
            if (thread.tid == tid) {
                return true;
            }
        }
        return false;
    }

    private static RuntimeException refusal(TracedProcess process, int tid, int errno) {
        String status;
        try {
            status = Proc.text("/proc/" + process.pid + "/task/" + tid + "/status");
        } catch (LinuxError gone) {
            return new CaptureFailed("%s: thread %d ended before it could be stopped".formatted(process, tid), gone);
        }
        String tracer = Proc.field(status, "TracerPid:");
        if (!"0".equals(tracer)) {
            return process.refuse("it is traced by process " + tracer + " (a debugger or strace); detach it first, or, "
                    + "where that belongs to the job, let the checkpoint do so (--detach-debuggers)");
        }
        if (Proc.field(status, "State:").startsWith("Z")) {
            return new CaptureFailed("%s: thread %d is ending, and does not end".formatted(process, tid));
        }
        return process.refuse("ptrace is not permitted (" + LinuxError.name(errno)
                + "): it belongs to another user, is not dumpable, or /proc/sys/kernel/yama/ptrace_scope forbids it; "
                + "run as the job's owner with ptrace_scope 0, or as root");
    }

    /** False when the thread has ended. */
    private boolean awaitStop(TracedProcess process, TracedThread thread, long deadline) {
        for (int round = 0;; round++) {
            WaitStatus status;
            try {
                status = Ptrace.poll(thread.tid);
            } catch (LinuxError gone) {
                if (gone.errno() == LinuxError.ECHILD) {
                    return false;
                }
                throw gone;
            }
            if (status == null && round >= USUAL) {
                Ptrace.takeOthers(); // it may be the main thread of a process that was killed
                if (endedAlone(process, thread)) {
                    return false;
                }
            }
            if (status == null) {
                pause(process, thread, round, deadline);
            } else if (status.ended()) {
                return false;
            } else if (status.interrupted()) {
                arrive(process, thread, status);
                return true;
            } else {
                Ptrace.resume(Ptrace.CONT, thread.tid, status.signalDelivery() ? status.signal() : 0);
            }
        }
    }

    /** A main thread that ends after it was seized: wait4(2) tells of it when the last of the process has ended. */
    private static boolean endedAlone(TracedProcess process, TracedThread thread) {
        return thread.tid == process.pid && ended(process.pid, thread.tid)
                && !CaptureErrors.endsWhole(process.pid);
    }

    private static boolean ended(int pid, int tid) {
        try {
            String state = Proc.threadState(pid, tid);
            return state.equals("Z") || state.equals("X");
        } catch (LinuxError gone) {
            return true;
        }
    }

    private void arrive(TracedProcess process, TracedThread thread, WaitStatus status) {
        thread.stopped = true;
        thread.jobStopped = status.signal() != SIGTRAP;
        thread.stopSignal = status.signal();
        Ptrace.registers(thread.tid, thread.registers);
        InterruptedCalls.hide(thread.registers);
        calls.name(thread.tid, thread.registers);
        if (thread.registers.get(Registers.CS) != USER_CODE_64) {
            throw process
                    .refuse("thread " + thread.tid + " runs 32-bit code; only x86-64 programs can be checkpointed");
        }
    }

    /**
     * A tracer that looks all the time is in the way of what it waits for: it comes before the ranks, which need a
     * moment of a processor each to stop. So it sleeps, a quarter of the time that it has waited or so.
     */
    private static void pause(TracedProcess process, TracedThread thread, int round, long deadline) {
        if (round < SPINS) {
            Syscall.call(Syscall.SCHED_YIELD);
        } else if (System.nanoTime() < deadline) {
            LockSupport.parkNanos(PAUSE_NS << Math.min((round - SPINS) / PAUSES, LENGTHS));
        } else {
            String call = Proc.text("/proc/" + process.pid + "/task/" + thread.tid + "/stat");
            throw new CaptureFailed(
                    "%s: thread %d does not stop (it may be in vfork or in uninterruptible I/O; state: %s)"
                            .formatted(process, thread.tid,
                                    call.substring(call.lastIndexOf(')') + 2, call.lastIndexOf(')') + 3)));
        }
    }
}
