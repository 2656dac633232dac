package org.udckpt.process.capture;

import org.udckpt.process.linux.LinuxError;
import org.udckpt.process.linux.Syscall;
import org.udckpt.process.trace.Injector;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.Registers;
import org.udckpt.process.trace.TraceeGone;
import org.udckpt.process.trace.WaitStatus;

/**
 * Makes the copy-on-write copy of a stopped process: its main thread makes a short-lived child that shares its memory,
 * which forks the snapshot and ends, and is waited for in the same stop. So the process has neither a child nor a
 * SIGCHLD nor a zombie afterwards; the snapshot's parent is the next subreaper (the shepherd).
 */
final class SnapshotFork {
    private static final int SHARED_VFORK = 0x4700; // CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_VFORK
    private static final int WALL = 0x40000000;
    private static final int SIGKILL = 9, SIGSTOP = 19;
    private static final int FOLLOW = Ptrace.O_TRACESYSGOOD | Ptrace.O_TRACEVFORK | Ptrace.O_TRACEFORK | Ptrace.O_TRACECLONE;

    private final TracedProcess process;
    private final TracedThread main;
    private final Parasite parasite;

    SnapshotFork(TracedProcess process) {
        this.process = process;
        this.main = process.main();
        this.parasite = process.parasite;
    }

    /** The snapshot's pid as the agent numbers it: stopped, traced by this thread, without descriptors, dies with this thread. */
    int fork() {
        Ptrace.options(main.tid, FOLLOW);
        int between = startBetween();
        int snapshot = parasite.safe() ? forkByRoutine(between) : forkByCall(between);
        finishMain(between);
        Ptrace.options(main.tid, Ptrace.O_TRACESYSGOOD);
        if (snapshot < 0) {
            throw new CaptureFailed("%s could not be forked: %s".formatted(process, LinuxError.name(-snapshot)));
        }
        leaveGroup(snapshot);
        return snapshot;
    }

    /** Runs the main thread to the point where it waits for the short-lived child; returns that one. */
    private int startBetween() {
        Registers registers = main.registers.copy().set(Registers.RSP, main.frame).set(Registers.ORIG_RAX, -1);
        if (parasite.safe()) {
            registers.set(Registers.RIP, parasite.forkRoutine());
        } else {
            registers.set(Registers.RIP, parasite.instruction()).set(Registers.RAX, Syscall.CLONE).set(Registers.RDI, SHARED_VFORK)
                    .set(Registers.RSI, 0).set(Registers.RDX, 0).set(Registers.R10, 0).set(Registers.R8, 0);
        }
        Ptrace.setRegisters(main.tid, registers);
        Ptrace.resume(Ptrace.SYSCALL, main.tid, 0);
        next(main.tid, Ptrace.SYSCALL);
        Ptrace.resume(Ptrace.SYSCALL, main.tid, 0);
        WaitStatus status = next(main.tid, Ptrace.SYSCALL);
        if (!status.newTask()) {
            Ptrace.registers(main.tid, registers);
            throw new CaptureFailed("%s: clone failed: %s".formatted(process, LinuxError.name(registers.error())));
        }
        int between = Ptrace.eventMessage(main.tid);
        Ptrace.resume(Ptrace.SYSCALL, main.tid, 0);
        firstStop(between);
        return between;
    }

    private int forkByRoutine(int between) {
        Ptrace.resume(Ptrace.CONT, between, 0);
        WaitStatus status = Ptrace.await(between);
        int snapshot = 0;
        while (!status.ended()) {
            if (status.newTask()) {
                snapshot = Ptrace.eventMessage(between);
                settle(snapshot);
            }
            Ptrace.resume(Ptrace.CONT, between, status.signalDelivery() && status.signal() != SIGSTOP ? status.signal() : 0);
            status = Ptrace.await(between);
        }
        if (snapshot == 0) {
            return status.exited() && status.exitCode() != 0 ? -status.exitCode() : -LinuxError.ECHILD;
        }
        closeDescriptors(snapshot);
        return snapshot;
    }

    private int forkByCall(int between) {
        Injector injector = new Injector(between, parasite.instruction(), main.registers.copy().set(Registers.RSP, main.frame));
        long result = injector.call(Syscall.CLONE, 0, 0, 0, 0, 0);
        int snapshot = injector.newTask();
        if (snapshot != 0) {
            settle(snapshot);
        }
        Syscall.call(Syscall.KILL, between, SIGKILL);
        while (!Ptrace.await(between).ended()) {
            // an exit stop may come first
        }
        if (snapshot == 0) {
            return (int) result;
        }
        LinuxError.check(new Injector(snapshot, parasite.instruction(), main.registers.copy().set(Registers.RSP, main.frame))
                .call(Syscall.CLOSE_RANGE, 0, 0xffffffffL, 0), "close_range in the snapshot");
        return snapshot;
    }

    /**
     * A signal to the rank's process group is not the snapshot's: when a rank dies and the others are ended, group by
     * group, the checkpoint that is being written is the last one that the job will ever have.
     */
    private void leaveGroup(int snapshot) {
        LinuxError.check(new Injector(snapshot, parasite.instruction(), main.registers.copy().set(Registers.RSP, main.frame))
                .call(Syscall.SETPGID, 0, 0), "setpgid in the snapshot");
    }

    /** The new snapshot's first stop; from here it dies with the agent. */
    private static void settle(int snapshot) {
        firstStop(snapshot);
        Ptrace.options(snapshot, Ptrace.O_TRACESYSGOOD | Ptrace.O_EXITKILL);
    }

    /** The routine's first call in the snapshot is close_range. It stays at the exit of that call. */
    private static void closeDescriptors(int snapshot) {
        Ptrace.resume(Ptrace.SYSCALL, snapshot, 0);
        next(snapshot, Ptrace.SYSCALL);
        Ptrace.resume(Ptrace.SYSCALL, snapshot, 0);
        next(snapshot, Ptrace.SYSCALL);
        LinuxError.check(Ptrace.registers(snapshot).get(Registers.RAX), "close_range in the snapshot");
    }

    /** The job must not see more attachments of its System V segments (shm_nattch) than its own; their contents were copied. */
    static void detachSegments(TracedProcess process, int snapshot) {
        Injector injector = null;
        for (Mapping mapping : process.mappings) {
            if (MemoryObjects.sysv(mapping)) {
                if (injector == null) {
                    injector = new Injector(snapshot, process.parasite.instruction(), process.main().registers.copy().set(Registers.RSP, process.main().frame));
                }
                injector.check("munmap in the snapshot", Syscall.MUNMAP, mapping.start(), mapping.end() - mapping.start());
            }
        }
    }

    private void finishMain(int between) {
        next(main.tid, Ptrace.SYSCALL);
        long reaped;
        if (parasite.safe()) {
            Ptrace.resume(Ptrace.SYSCALL, main.tid, 0);
            next(main.tid, Ptrace.SYSCALL);
            Ptrace.resume(Ptrace.SYSCALL, main.tid, 0);
            next(main.tid, Ptrace.SYSCALL);
            reaped = Ptrace.registers(main.tid).get(Registers.RAX);
        } else {
            long number = Ptrace.registers(main.tid).get(Registers.RAX); // in the job's own pid namespace
            reaped = main.injector.call(Syscall.WAIT4, number, 0, WALL, 0);
        }
        LinuxError.check(reaped, "wait for the intermediate process " + between);
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

    /** The next system call stop or new-task event. */
    private static WaitStatus next(int tid, int how) {
        while (true) {
            WaitStatus status = Ptrace.await(tid);
            if (status.ended()) {
                throw new TraceeGone(tid, status);
            }
            if (status.systemCall() || status.newTask()) {
                return status;
            }
            Ptrace.resume(how, tid, 0);
        }
    }
}
