package org.udckpt.process.trace;

import static org.udckpt.linux.LinuxConstants.SIGSTOP;
import static org.udckpt.linux.LinuxConstants.SIGTRAP;

import org.udckpt.linux.LinuxError;

/**
 * Makes system calls in one stopped thread: registers are set to a {@code syscall} instruction of the target, and two
 * PTRACE_SYSCALL resumes bring it to the entry and to the exit. The thread must have been seized with
 * PTRACE_O_TRACESYSGOOD, and its signals blocked (except SIGKILL and SIGSTOP: a SIGSTOP that comes is held back, see
 * {@link #heldStop()}). ORIG_RAX is set to -1, else the kernel restarts the interrupted call on top of ours.
 */
public final class Injector {
    private final int tid;
    private final long instruction;
    private final Registers base;
    private final Registers work = new Registers();
    private int newTask;
    private boolean heldStop;

    /**
     * @param instruction address of a syscall instruction;
     * @param base the other registers, RSP above all, during calls
     */
    public Injector(int tid, long instruction, Registers base) {
        this.tid = tid;
        this.instruction = instruction;
        this.base = base.copy();
    }

    public int tid() {
        return tid;
    }

    /** The call's result or {@code -errno}. */
    public long call(long number, long... arguments) {
        begin(number, arguments);
        enter();
        return finish();
    }

    /** The call's result; {@code what} names it in the error. */
    public long check(String what, long number, long... arguments) {
        long result = call(number, arguments);
        return result < 0 ? LinuxError.check(result, what + " in thread " + tid) : result;
    }

    /** Runs code of the tracer's own, with two arguments, until it traps (int3). */
    public void execute(long code, long rbx, long r12) {
        work.copyFrom(base);
        work.set(Registers.RIP, code).set(Registers.RBX, rbx).set(Registers.R12, r12).set(Registers.ORIG_RAX, -1);
        runToTrap();
    }

    /**
     * As {@link #call}, with one stop in place of two, by code of the tracer's own: a syscall instruction and a trap
     * ({@link CallLoop}). The trap takes SIGTRAP out of the thread's blocked signals.
     */
    public long callToTrap(long code, long number, long... arguments) {
        prepare(code, number, arguments);
        runToTrap();
        Ptrace.registers(tid, work);
        return work.get(Registers.RAX);
    }

    private void runToTrap() {
        newTask = 0;
        Ptrace.setRegisters(tid, work);
        while (true) {
            Ptrace.resume(Ptrace.CONT, tid, 0);
            WaitStatus status = Ptrace.await(tid);
            if (status.ended()) {
                throw new TraceeGone(tid, status);
            }
            if (status.newTask()) {
                newTask = Ptrace.eventMessage(tid);
            } else if (status.signalDelivery() && status.signal() == SIGTRAP) {
                return;
            } else if (status.signalDelivery() && status.signal() == SIGSTOP) {
                heldStop = true;
            } else {
                throw new IllegalStateException("thread " + tid + ": unexpected stop during injected calls: " + status);
            }
        }
    }

    private void prepare(long code, long number, long... arguments) {
        work.copyFrom(base);
        work.set(Registers.RIP, code).set(Registers.RAX, number).set(Registers.ORIG_RAX, -1);
        for (int i = 0; i < arguments.length; i++) {
            work.setArgument(i, arguments[i]);
        }
    }

    /** First third of a call, for injecting into many threads at once: begin all, enter all, finish all. */
    public void begin(long number, long... arguments) {
        prepare(instruction, number, arguments);
        newTask = 0;
        Ptrace.setRegisters(tid, work);
        Ptrace.resume(Ptrace.SYSCALL, tid, 0);
    }

    public void enter() {
        awaitSystemCall();
        Ptrace.resume(Ptrace.SYSCALL, tid, 0);
    }

    public long finish() {
        awaitSystemCall();
        Ptrace.registers(tid, work);
        return work.get(Registers.RAX);
    }

    /**
     * Thread or process made by the last call, when PTRACE_O_TRACEFORK/VFORK/CLONE is set; as the tracer numbers it. 0:
     * none.
     */
    public int newTask() {
        return newTask;
    }

    /** A SIGSTOP came during the calls and was kept from the thread: send it again after the end. */
    public boolean heldStop() {
        return heldStop;
    }

    private void awaitSystemCall() {
        while (true) {
            WaitStatus status = Ptrace.await(tid);
            if (status.systemCall()) {
                return;
            }
            if (status.ended()) {
                throw new TraceeGone(tid, status);
            }
            if (status.newTask()) {
                newTask = Ptrace.eventMessage(tid);
            } else if (status.signalDelivery()) {
                if (status.signal() != SIGSTOP) {
                    throw new IllegalStateException(
                            "thread " + tid + ": unexpected stop during an injected call: " + status);
                }
                heldStop = true;
            }
            Ptrace.resume(Ptrace.SYSCALL, tid, 0);
        }
    }
}
