package org.udckpt.process.trace;

import static org.udckpt.linux.LinuxConstants.SIGTRAP;

/** A status of wait4(2) for a seized tracee (ptrace(2), "Stopped states"). */
public record WaitStatus(int raw) {
    public static final int EVENT_FORK = 1, EVENT_VFORK = 2, EVENT_CLONE = 3, EVENT_STOP = 128;

    public boolean stopped() {
        return (raw & 0xff) == 0x7f;
    }

    public boolean ended() {
        return !stopped();
    }

    public boolean exited() {
        return (raw & 0x7f) == 0;
    }

    public int exitCode() {
        return raw >> 8 & 0xff;
    }

    public int signal() {
        return stopped() ? raw >> 8 & 0x7f : raw & 0x7f;
    }

    /** By a signal, with a core file (WCOREDUMP). */
    public boolean dumped() {
        return !stopped() && !exited() && (raw & 0x80) != 0;
    }

    /** PTRACE_EVENT_*, or 0. */
    public int event() {
        return raw >> 16;
    }

    /** The stop that PTRACE_INTERRUPT asks for, a new tracee's first stop, or a group-stop. */
    public boolean interrupted() {
        return stopped() && event() == EVENT_STOP;
    }

    public boolean newTask() {
        return stopped() && event() >= EVENT_FORK && event() <= EVENT_CLONE;
    }

    /** Entry or exit of a system call, under PTRACE_O_TRACESYSGOOD. */
    public boolean systemCall() {
        return stopped() && event() == 0 && (raw >> 8 & 0xff) == (SIGTRAP | 0x80);
    }

    /** A signal is about to be delivered: pass {@link #signal()} on when resuming. */
    public boolean signalDelivery() {
        return stopped() && event() == 0 && !systemCall();
    }

    @Override
    public String toString() {
        return exited() ? "exited with " + exitCode() : ended() ? "killed by signal " + signal()
                : "stopped, signal %d, event %d%s".formatted(signal(), event(), systemCall() ? " (system call)" : "");
    }
}
