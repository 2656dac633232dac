package org.udckpt.process.restore;

import org.udckpt.process.trace.CallLoop;
import org.udckpt.process.trace.Injector;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.Registers;

/**
 * The calls that a {@link Tracee} makes: by code in its scratch, which ends in a trap and takes one stop, or by a
 * syscall instruction of the vDSO and the kernel's stops at its entry and exit, two. Threads are named by the tracer's
 * numbers.
 */
final class InjectedCalls {
    private final int hostPid;
    private final Registers base;
    /** Of the first thread; it knows the task that the last call made. */
    private Injector first;
    /** In the vDSO, and it moves with that. */
    private long instruction;
    /** Address of {@link CallLoop}'s code; 0: calls may not end in a trap. */
    private long code;

    InjectedCalls(int hostPid, Registers base, long instruction, long code) {
        this.hostPid = hostPid;
        this.base = base;
        this.code = code;
        moved(instruction);
    }

    /** Those of a task that this one has made, whose memory is a copy of this one's or the same. */
    InjectedCalls in(int child) {
        return new InjectedCalls(child, base, instruction, code);
    }

    /** The vDSO's syscall instruction is here from now on. */
    void moved(long address) {
        instruction = address;
        first = new Injector(hostPid, address, base);
    }

    long instruction() {
        return instruction;
    }

    /** From now on, with this code; 0: not any more. */
    void trapBy(long address) {
        code = address;
    }

    boolean traps() {
        return code != 0;
    }

    /** The result or {@code -errno}. */
    long call(int thread, long number, long... arguments) {
        if (code == 0) {
            return injector(thread).call(number, arguments);
        }
        long result = injector(thread).callToTrap(code + CallLoop.ONE, number, arguments);
        Ptrace.setSignalMask(thread, -1L); // a trap that is blocked is let through, and stays so
        return result;
    }

    /** Makes so many calls of a list ({@link CallLoop}), while there are {@link #traps}. */
    void callAll(int thread, long entries, int count) {
        injector(thread).execute(code, entries, count);
        Ptrace.setSignalMask(thread, -1L);
    }

    /** A call that does not return. */
    void callLast(long number, long argument) {
        first.begin(number, argument);
        first.enter();
    }

    /** {@link Injector#newTask}, of the first thread's last call. */
    int newTask() {
        return first.newTask();
    }

    private Injector injector(int thread) {
        return thread == hostPid ? first : new Injector(thread, instruction, base);
    }
}
