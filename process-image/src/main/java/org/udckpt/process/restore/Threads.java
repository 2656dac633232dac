package org.udckpt.process.restore;

import static org.udckpt.linux.LinuxConstants.PR_SET_NAME;
import static org.udckpt.linux.LinuxConstants.PR_SET_NO_NEW_PRIVS;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.PosixTimer;
import org.udckpt.process.model.Privileges;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.Registers;

/** Makes a process's threads, gives them what the kernel keeps for each, and sets them to where they were stopped. */
final class Threads {
    private static final int SS_ONSTACK = 1, SS_DISABLE = 2, PR_SET_TIMERSLACK = 29, IOPRIO_WHO_PROCESS = 1;
    /** Where struct rseq has the pointer to it. */
    private static final int CRITICAL_SECTION = 8;
    /** Of what the system call getpriority(2) returns. */
    private static final int NICE_ZERO = 20;

    private record Thread(ThreadState state, int hostTid) {}

    /** A thread's number in the job, and the tracer's. */
    record Place(int tid, int hostTid) {}

    private final Tracee tracee;
    private final OptionalInt mainEnd;
    private final List<Thread> threads = new ArrayList<>();
    private boolean toldOfScheduling;

    /**
     * @param mainEnd the exit code with which the main thread has ended; empty: it has not
     */
    Threads(Tracee tracee, List<ThreadState> states, OptionalInt mainEnd) {
        this.tracee = tracee;
        this.mainEnd = mainEnd;
        for (ThreadState state : states) {
            boolean main = state.tid() == tracee.pid();
            if (main) {
                tracee.call("set_tid_address", Syscall.SET_TID_ADDRESS, state.clearChildTid());
            }
            threads.add(new Thread(state,
                    main ? tracee.hostPid() : tracee.thread(state.tid(), state.clearChildTid())));
        }
    }

    /** The process of the threads. */
    Tracee tracee() {
        return tracee;
    }

    /** When memory is filled: what the kernel keeps for each thread. */
    void describe(ProcessState process) {
        threads.forEach(thread -> describe(thread.hostTid, thread.state, process.timerSlackNs()));
    }

    private void describe(int tid, ThreadState state, long timerSlackNs) {
        Batch batch = new Batch(tracee, tid);
        batch.add(named(state, "PR_SET_TIMERSLACK"), Syscall.PRCTL, PR_SET_TIMERSLACK, timerSlackNs);
        batch.add(named(state, "PR_SET_NAME"), Syscall.PRCTL, PR_SET_NAME, batch.string(state.name()));
        if (state.robustList() != 0) {
            batch.add(named(state, "set_robust_list"), Syscall.SET_ROBUST_LIST, state.robustList(),
                    state.robustListLength());
        }
        byte[] section = null;
        if (state.rseqAddress() != 0) {
            section = tracee.read(state.rseqAddress() + CRITICAL_SECTION, Long.BYTES);
            batch.add(named(state, "register rseq"), Syscall.RSEQ, state.rseqAddress(), state.rseqSize(),
                    state.rseqFlags(), state.rseqSignature());
        }
        if ((state.altStackFlags() & SS_DISABLE) == 0 && state.altStackPointer() != 0) {
            byte[] stack = tracee.structure().i64(state.altStackPointer()).i32(state.altStackFlags() & ~SS_ONSTACK)
                    .i32(0).i64(state.altStackSize()).bytes();
            batch.add(named(state, "sigaltstack"), Syscall.SIGALTSTACK, batch.bytes(stack), 0);
        }
        List<Runnable> told = new ArrayList<>();
        if (state.affinity().length > 0) {
            bind(batch, state, told);
        }
        schedule(batch, tid, state, told);
        batch.run();
        if (section != null) {
            // Registration clears the pointer to the critical section that the thread is in (rseq.c): it is put back.
            tracee.memory().writeBytes(state.rseqAddress() + CRITICAL_SECTION, section);
        }
        told.forEach(Runnable::run);
    }

    private static Supplier<String> named(ThreadState state, String what) {
        return () -> what + " (thread " + state.tid() + ")";
    }

    /**
     * What it has now is what the restart was started with. Who may not have it as it was goes on with that.
     *
     * @param told what to look at behind the calls
     */
    private void schedule(Batch batch, int tid, ThreadState state, List<Runnable> told) {
        if (state.policy() != 0 || Syscall.call(Syscall.SCHED_GETSCHEDULER, tid) != 0) {
            long parameter = batch.bytes(tracee.structure().i32(state.priority()).bytes());
            set(batch, told, "scheduling policy (sched(7)) could not be set to " + state.policy()
                    + "; allow it (ulimit -r), ", Syscall.SCHED_SETSCHEDULER, 0, state.policy(), parameter);
        }
        if (state.ioPriority() != Syscall.call(Syscall.IOPRIO_GET, IOPRIO_WHO_PROCESS, tid)) {
            set(batch, told, "I/O priority could not be set to " + state.ioPriority() + "; ", Syscall.IOPRIO_SET,
                    IOPRIO_WHO_PROCESS, 0, state.ioPriority());
        }
        int now = NICE_ZERO - (int) LinuxError.check(Syscall.call(Syscall.GETPRIORITY, 0, tid), "nice value");
        if (state.nice() != now) {
            set(batch, told, "nice value could not be set to " + state.nice() + ", and is " + now
                    + "; restart with nice -n " + state.nice() + ", ", Syscall.SETPRIORITY, 0, 0, state.nice());
        }
    }

    private void set(Batch batch, List<Runnable> told, String what, long call, long... arguments) {
        int place = batch.add(() -> what, result -> result == -LinuxError.EPERM || result == -LinuxError.EACCES, call,
                arguments);
        told.add(() -> {
            if (batch.result(place) < 0 && !toldOfScheduling) {
                toldOfScheduling = true; // of the first thread
                System.err.println("udckpt: " + tracee.name() + ": its " + what + "or as root");
            }
        });
    }

    /**
     * A thread that was bound is bound again. Where a machine has none of its processors, it stays where the launcher
     * put it.
     */
    private void bind(Batch batch, ThreadState state, List<Runnable> told) {
        int place = batch.add(() -> "processor affinity of thread " + state.tid(),
                result -> result == -LinuxError.EINVAL, Syscall.SCHED_SETAFFINITY, 0, state.affinity().length,
                batch.bytes(state.affinity()));
        told.add(() -> {
            if (batch.result(place) < 0) {
                System.err.println("udckpt: " + tracee.name() + ": thread " + state.tid()
                        + " was bound to processors that this machine does not have; it is not bound now");
            }
        });
    }

    /** What was pending for one of them. */
    List<byte[]> pendingSignals() {
        return threads.stream().flatMap(thread -> Signals.split(thread.state.pendingSignals()).stream()).toList();
    }

    List<Place> places() {
        return threads.stream().map(thread -> new Place(thread.state.tid(), thread.hostTid)).toList();
    }

    /** The tracer's number of a thread. */
    int host(int tid) {
        return threads.stream().filter(thread -> thread.state.tid() == tid).findFirst().orElseThrow().hostTid;
    }

    /** The tracer's number of a thread that lives. */
    int living() {
        return threads.getFirst().hostTid;
    }

    /** Signals that were pending for one thread; they stay blocked until the end. */
    void queueSignals(List<PosixTimer> timers) {
        for (Thread thread : threads) {
            for (byte[] info : Signals.split(thread.state.pendingSignals())) {
                if (Signals.timer(info, timers) != null) {
                    continue;
                }
                tracee.callIn(thread.hostTid, "queue a thread's signal", Syscall.RT_TGSIGQUEUEINFO,
                        tracee.own(tracee.pid()), tracee.own(thread.state.tid()), Signals.number(info),
                        tracee.bytes(info));
            }
        }
    }

    /** Gives privileges up: no later step needs them. Threads have inherited none of this: they were made before. */
    void restrict(ProcessState process, List<Privileges> privileges) {
        for (Thread thread : threads) {
            boolean noNew = process.noNewPrivileges();
            for (Privileges one : privileges) {
                if (one.tid() == thread.state.tid()) {
                    switch (one) {
                        case Privileges.Credentials credentials -> new Credentials(tracee, thread.hostTid, credentials)
                                .give();
                        case Privileges.NoNewPrivileges other -> noNew = other.set();
                    }
                }
            }
            if (noNew) {
                tracee.callIn(thread.hostTid, "PR_SET_NO_NEW_PRIVS", Syscall.PRCTL, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            }
        }
    }

    /** Gives up what an ordinary user has in the job's namespaces only (capset(2)); nothing privileged comes after. */
    void dropCapabilities() {
        for (Thread thread : threads) {
            long header = tracee.structure().i32(0x20080522 /* version 3 */).i32(0).put();
            long none = tracee.structure().i64(0).i64(0).i64(0).put();
            tracee.callIn(thread.hostTid, "drop capabilities", 126 /* capset */, header, none);
        }
    }

    /**
     * The last step before the threads run: brings each from the end of an injected call into the stop that
     * PTRACE_INTERRUPT makes, where the kernel still has to decide about signals and restarts, and sets its registers.
     * No call is made in the process afterwards: its main thread may have ended.
     */
    void setRegisters() {
        if (mainEnd.isPresent()) {
            tracee.endMainThread(mainEnd.getAsInt());
            threads.removeFirst();
        }
        for (Thread thread : threads) {
            Ptrace.interrupt(thread.hostTid);
            Ptrace.resume(Ptrace.CONT, thread.hostTid, 0);
        }
        for (Thread thread : threads) {
            Tracee.awaitInterrupt(thread.hostTid);
            setExtendedState(thread);
            Ptrace.setRegisters(thread.hostTid, SystemCallRestart.prepare(Registers.of(thread.state.registers())));
            Ptrace.setSignalMask(thread.hostTid, thread.state.signalMask());
        }
    }

    private void setExtendedState(Thread thread) {
        try {
            Ptrace.setXstate(thread.hostTid, thread.state.xstate());
        } catch (LinuxError failure) {
            throw tracee.unsupported("this processor cannot take thread " + thread.state.tid() + "'s vector state of "
                    + thread.state.xstate().length
                    + " bytes (" + LinuxError.name(failure.errno())
                    + "); restart on a processor with the features of the checkpoint's");
        }
    }

    /** The process runs from the first one on, and may end by itself, or by another of the job, before the last. */
    void letGo() {
        for (Thread thread : threads) {
            try {
                Ptrace.resume(Ptrace.DETACH, thread.hostTid, 0);
            } catch (LinuxError gone) {
                if (gone.errno() != LinuxError.ESRCH) {
                    throw gone;
                }
            }
        }
    }
}
