package org.udckpt.process.capture;

import org.udckpt.process.trace.Injector;
import org.udckpt.process.trace.Ptrace;
import org.udckpt.process.trace.Registers;

/** A thread that the capture has seized; {@code tid} is the agent's number of it. */
final class TracedThread {
    final int tid;
    final Registers registers = new Registers();
    boolean stopped;
    boolean jobStopped;
    /** By which it was stopped, where it was: SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU (signal(7)). */
    int stopSignal;

    TaskStatus status;
    int namespaceTid;
    byte[] xstate;
    long signalMask;
    byte[] pendingSignals;
    long[] rseq;
    long robustList;
    long robustListLength;
    long clearChildTid;
    long altStackPointer;
    int altStackFlags;
    long altStackSize;
    String name;
    int policy;
    int priority;
    int nice;
    byte[] affinity;
    int ioPriority;
    /** PR_SET_SPECULATION_CTRL, 0: as at the job's start. */
    int storeBypass;
    int indirectBranch;
    /** {@link NumaPolicies#values}. */
    long[] memoryPolicy = {};
    /** Whether user, groups, capabilities or secure bits are not those that the job was started with. */
    boolean ownCredentials;
    int secureBits;
    /** no_new_privs, where it is not what it is for the main thread; else null. */
    Boolean noNewPrivileges;

    /** Of ptrace(2), while it is not being forked: {@link CallFilters} adds to them. */
    int traceOptions = Ptrace.O_TRACESYSGOOD;

    /** Not null from the moment when its registers are not its own any more. */
    Injector injector;
    /** A SIGSTOP came while it was forked, and is to be sent again. As {@link Injector#heldStop}. */
    boolean heldStop;
    long frame;
    boolean masked;

    TracedThread(int tid) {
        this.tid = tid;
    }
}
