package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.SIGKILL;
import static org.udckpt.linux.LinuxConstants.SIGSTOP;

import java.util.List;
import java.util.function.Consumer;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.Injector;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.Registers;
import org.udckpt.process.trace.TraceeGone;
import org.udckpt.process.trace.WaitStatus;

/**
 * Makes the copy-on-write copy of a stopped process: its main thread makes a short-lived child that shares its memory,
 * which forks the snapshot and ends, and is waited for in the same stop. So the process has neither a child nor a
 * SIGCHLD nor a zombie afterwards; the snapshot's parent is the next subreaper (the shepherd).
 *
 * <p>It takes a dozen stops one after the other, each with a way to another processor and back. So a tree's processes
 * are forked side by side ({@link #make}): each step is done of all of them, and while one is waited for the others
 * run.
 */
final class SnapshotFork {
    private static final int SHARED_VFORK = 0x4700; // CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_VFORK
    private static final int WALL = ChildSnapshot.WALL;
    private static final int FOLLOW = Ptrace.O_TRACEVFORK | Ptrace.O_TRACEFORK | Ptrace.O_TRACECLONE;
    /**
     * Enough for all processors of a node, and few: each takes a second process number for a moment, of which a job may
     * have none to spare.
     */
    private static final int AT_ONCE = 16;
    /** Where there is no stack: a copy that nobody traces ends at once. */
    private static final int NO_STACK = 8;
    private static final List<Consumer<SnapshotFork>> STEPS = List.of(SnapshotFork::begin, SnapshotFork::enter,
            SnapshotFork::follow, SnapshotFork::letFork, SnapshotFork::copied,
            SnapshotFork::endBetween, SnapshotFork::comeBack, SnapshotFork::enterReaping, SnapshotFork::finish);

    private final TracedProcess process;
    private final TracedThread main;
    private final Parasite parasite;
    private int between;
    /** As the agent numbers it. 0: not made yet, or not at all. */
    private int snapshot;
    private long error;
    private Injector leaving;
    private RuntimeException failure;

    SnapshotFork(TracedProcess process) {
        this.process = process;
        this.main = process.main();
        this.parasite = process.parasite;
    }

    /**
     * Forks all of them. When it throws, those that could be are forked: {@link #snapshot} says which.
     *
     * @throws CaptureFailed the first reason; each of the others is with it
     */
    static void make(List<SnapshotFork> forks) {
        for (int from = 0; from < forks.size(); from += AT_ONCE) {
            List<SnapshotFork> some = forks.subList(from, Math.min(forks.size(), from + AT_ONCE));
            for (Consumer<SnapshotFork> step : STEPS) {
                some.stream().filter(fork -> !fork.process.forksApart()).forEach(fork -> fork.attempt(step));
            }
            some.stream().filter(fork -> fork.process.forksApart())
                    .forEach(fork -> fork.attempt(SnapshotFork::makeChild));
            failure(some);
        }
    }

    private static void failure(List<SnapshotFork> forks) {
        RuntimeException first = null;
        for (SnapshotFork fork : forks) {
            if (first == null) {
                first = fork.failure;
            } else if (fork.failure != null) {
                first.addSuppressed(fork.failure);
            }
        }
        if (first != null) {
            throw first;
        }
    }

    private void attempt(Consumer<SnapshotFork> step) {
        if (failure == null) {
            try {
                step.accept(this);
            } catch (RuntimeException e) {
                failure = e; // the others are brought to an end: nobody is left in the middle of this
            }
        }
    }

    /**
     * The snapshot's pid as the agent numbers it: stopped, traced by this thread, without descriptors, dies with this
     * thread. 0: there is none.
     */
    int snapshot() {
        return snapshot;
    }

    /** {@link ChildSnapshot}. */
    private void makeChild() {
        Ptrace.options(main.tid, main.traceOptions | FOLLOW);
        long result = main.injector.call(Syscall.CLONE, 0, NO_STACK, 0, 0, 0);
        snapshot = main.injector.newTask();
        if (snapshot != 0) {
            settle(snapshot);
        }
        Ptrace.options(main.tid, main.traceOptions);
        if (snapshot == 0) {
            refuseHopeless(result);
            throw new CaptureFailed("%s could not be forked: %s".formatted(process, LinuxError.name((int) -result)));
        }
        Injector calls = injector(snapshot);
        calls.check("close_range in the snapshot", Syscall.CLOSE_RANGE, 0, 0xffffffffL, 0);
        calls.check("setpgid in the snapshot", Syscall.SETPGID, 0, 0);
        try (ProcessMemory memory = new ProcessMemory(snapshot)) {
            ChildSnapshot.mark(calls, memory, Parasite.results(main.frame));
        }
    }

    private void begin() {
        Ptrace.options(main.tid, main.traceOptions | FOLLOW);
        Registers registers = main.registers.copy().set(Registers.RSP, main.frame).set(Registers.ORIG_RAX, -1);
        if (parasite.safe()) {
            registers.set(Registers.RIP, parasite.forkRoutine());
        } else {
            registers.set(Registers.RIP, parasite.instruction()).set(Registers.RAX, Syscall.CLONE)
                    .set(Registers.RDI, SHARED_VFORK)
                    .set(Registers.RSI, 0).set(Registers.RDX, 0).set(Registers.R10, 0).set(Registers.R8, 0);
        }
        Ptrace.setRegisters(main.tid, registers);
        Ptrace.resume(Ptrace.SYSCALL, main.tid, 0);
    }

    private void enter() {
        next(main.tid);
        Ptrace.resume(Ptrace.SYSCALL, main.tid, 0);
    }

    /** The main thread comes to the point where it waits for the short-lived child. */
    private void follow() {
        WaitStatus status = next(main.tid);
        if (!status.newTask()) {
            refuseHopeless(-Ptrace.registers(main.tid).error());
            throw new CaptureFailed(
                    "%s: clone failed: %s".formatted(process, LinuxError.name(Ptrace.registers(main.tid).error())));
        }
        between = Ptrace.eventMessage(main.tid);
        Ptrace.resume(Ptrace.SYSCALL, main.tid, 0);
    }

    private void letFork() {
        firstStop(between);
        if (parasite.safe()) {
            Ptrace.resume(Ptrace.CONT, between, 0);
        }
    }

    private void copied() {
        if (parasite.safe()) {
            copiedByRoutine();
        } else {
            copyByCall();
        }
    }

    /** The routine's first call in the snapshot is close_range. */
    private void copiedByRoutine() {
        WaitStatus status = Ptrace.await(between);
        while (!status.ended() && !status.newTask()) {
            Ptrace.resume(Ptrace.CONT, between,
                    status.signalDelivery() && status.signal() != SIGSTOP ? status.signal() : 0);
            status = Ptrace.await(between);
        }
        if (status.ended()) {
            between = 0;
            error = status.exited() && status.exitCode() != 0 ? -status.exitCode() : -LinuxError.ECHILD;
            return;
        }
        snapshot = Ptrace.eventMessage(between);
        settle(snapshot);
        Ptrace.resume(Ptrace.CONT, between, 0);
        Ptrace.resume(Ptrace.SYSCALL, snapshot, 0);
    }

    private void copyByCall() {
        Injector injector = injector(between);
        long result = injector.call(Syscall.CLONE, 0, 0, 0, 0, 0);
        snapshot = injector.newTask();
        if (snapshot != 0) {
            settle(snapshot);
        }
        Syscall.call(Syscall.KILL, between, SIGKILL);
        while (!Ptrace.await(between).ended()) {
            // an exit stop may come first
        }
        if (snapshot == 0) {
            error = result;
            return;
        }
        LinuxError.check(injector(snapshot).call(Syscall.CLOSE_RANGE, 0, 0xffffffffL, 0),
                "close_range in the snapshot");
    }

    private void endBetween() {
        if (parasite.safe() && snapshot != 0) {
            for (WaitStatus status; !(status = Ptrace.await(between)).ended();) {
                Ptrace.resume(Ptrace.CONT, between,
                        status.signalDelivery() && status.signal() != SIGSTOP ? status.signal() : 0);
            }
            next(snapshot);
            Ptrace.resume(Ptrace.SYSCALL, snapshot, 0);
        }
    }

    /**
     * The snapshot has closed its descriptors, and leaves the process group: a signal to that is not the snapshot's.
     * When a rank dies and the others are ended, group by group, the checkpoint that is being written is the last one
     * that the job will ever have.
     */
    private void comeBack() {
        next(main.tid);
        if (parasite.safe()) {
            Ptrace.resume(Ptrace.SYSCALL, main.tid, 0);
        }
        if (snapshot != 0) {
            if (parasite.safe()) {
                next(snapshot);
                LinuxError.check(Ptrace.registers(snapshot).get(Registers.RAX), "close_range in the snapshot");
            }
            leaving = injector(snapshot);
            leaving.begin(Syscall.SETPGID, 0, 0);
        }
    }

    private void enterReaping() {
        if (parasite.safe()) {
            next(main.tid);
            Ptrace.resume(Ptrace.SYSCALL, main.tid, 0);
        }
        if (snapshot != 0) {
            leaving.enter();
        }
    }

    private void finish() {
        long reaped;
        if (parasite.safe()) {
            next(main.tid);
            reaped = Ptrace.registers(main.tid).get(Registers.RAX);
        } else {
            long number = Ptrace.registers(main.tid).get(Registers.RAX); // in the job's own pid namespace
            reaped = main.injector.call(Syscall.WAIT4, number, 0, WALL, 0);
        }
        LinuxError.check(reaped, "wait for the short-lived process of " + process);
        Ptrace.options(main.tid, main.traceOptions);
        if (snapshot == 0) {
            refuseHopeless(error);
            throw new CaptureFailed("%s could not be forked: %s".formatted(process, LinuxError.name((int) -error)));
        }
        LinuxError.check(leaving.finish(), "setpgid in the snapshot");
    }

    /** @param error negative */
    private void refuseHopeless(long error) {
        if (error == -LinuxError.EAGAIN && ForkRoom.isHopeless(process)) {
            throw process.refuse(
                    "its hard limit of processes (RLIMIT_NPROC, ulimit -Hu) leaves no room for a copy of it; raise it");
        }
    }

    private Injector injector(int tid) {
        return new Injector(tid, parasite.instruction(), main.registers.copy().set(Registers.RSP, main.frame));
    }

    /** The new snapshot's first stop; from here it dies with the agent. */
    private void settle(int snapshot) {
        firstStop(snapshot);
        Ptrace.options(snapshot, main.traceOptions | Ptrace.O_EXITKILL);
    }

    /**
     * The job must not see more attachments of its System V segments (shm_nattch) than its own; their contents were
     * copied.
     */
    static void detachSegments(TracedProcess process, int snapshot) {
        Injector injector = null;
        for (Mapping mapping : process.mappings) {
            if (MemoryObjects.sysv(mapping)) {
                if (injector == null) {
                    injector = new Injector(snapshot, process.parasite.instruction(),
                            process.main().registers.copy().set(Registers.RSP, process.main().frame));
                }
                injector.check("munmap in the snapshot", Syscall.MUNMAP, mapping.start(),
                        mapping.end() - mapping.start());
            }
        }
    }

    private static void firstStop(int tid) {
        while (true) {
            WaitStatus status = Ptrace.await(tid);
            if (status.ended()) {
                throw new TraceeGone(tid, status);
            }
            if (status.interrupted()) {
                return;
            }
            Ptrace.resume(Ptrace.CONT, tid, 0);
        }
    }

    /**
     * The next system call stop or new-task event. All signals are blocked but SIGSTOP: the job's own waits for
     * {@link ProcessResume}.
     */
    private WaitStatus next(int tid) {
        while (true) {
            WaitStatus status = Ptrace.await(tid);
            if (status.ended()) {
                throw new TraceeGone(tid, status);
            }
            if (status.systemCall() || status.newTask()) {
                return status;
            }
            main.heldStop |= tid == main.tid && status.signalDelivery() && status.signal() == SIGSTOP;
            Ptrace.resume(Ptrace.SYSCALL, tid, 0);
        }
    }
}
