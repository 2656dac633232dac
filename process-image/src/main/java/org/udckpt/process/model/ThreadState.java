package org.udckpt.process.model;

/**
 * One thread; the main thread (tid == pid) comes first in a process's list.
 *
 * @param registers struct user_regs_struct, 216 bytes, as at the stop: a negative RAX of -512..-516 with ORIG_RAX >= 0
 *     is a system call to be made again (-516: its time-out goes on; see restart_syscall(2))
 * @param xstate NT_X86_XSTATE: XSAVE area in standard format
 * @param signalMask blocked signals, bit (signal - 1)
 * @param pendingSignals of the thread: siginfo_t, 128 bytes each, oldest first
 * @param robustList address for set_robust_list(2), 0: none
 * @param clearChildTid address for set_tid_address(2), 0: none
 * @param altStackPointer sigaltstack(2); flags has SS_DISABLE (2) when there is none, SS_ONSTACK (1) when it is in use
 * @param rseqAddress restartable sequence area, 0: none
 * @param policy sched_getscheduler(2)
 * @param affinity mask of sched_getaffinity(2), where it is not the one that the launcher gave all; else empty
 * @param ioPriority ioprio_get(2), 0: it follows the nice value
 */
public record ThreadState(int pid, int tid, byte[] registers, byte[] xstate, long signalMask, byte[] pendingSignals,
        long robustList,
        long robustListLength, long clearChildTid, long altStackPointer, int altStackFlags, long altStackSize,
        long rseqAddress,
        int rseqSize, int rseqSignature, int rseqFlags, String name, int policy, int priority, int nice,
        byte[] affinity,
        int ioPriority) {
    /** The same thread with other vector state. */
    public ThreadState withXstate(byte[] other) {
        return new ThreadState(pid, tid, registers, other, signalMask, pendingSignals, robustList, robustListLength,
                clearChildTid, altStackPointer,
                altStackFlags, altStackSize, rseqAddress, rseqSize, rseqSignature, rseqFlags, name, policy, priority,
                nice, affinity, ioPriority);
    }
}
