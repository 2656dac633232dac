package org.udckpt.process.model;

/**
 * One process. Pids, groups and sessions are numbers of the process's own pid namespace.
 *
 * @param parentPid pid of the parent when it is in the image, else 0 (a rank: its parent is the shepherd) or
 *     {@link #ADOPTED}
 * @param rank of the root whose tree this process belongs to
 * @param executable path of /proc/PID/exe
 * @param name of the process (comm of its main thread)
 * @param auxv /proc/PID/auxv
 * @param memoryMap the 11 longs of struct prctl_mm_map before auxv: start_code, end_code, start_data, end_data,
 *     start_brk, brk, start_stack, arg_start, arg_end, env_start, env_end
 * @param signalActions 65 x 32 bytes, struct kernel_sigaction {handler, flags, restorer, mask} at 32 x signal
 * @param pendingSignals shared queue: siginfo_t, 128 bytes each, oldest first
 * @param intervalTimers setitimer's REAL, VIRTUAL, PROF: {interval, value} in microseconds each
 * @param limits 16 x {soft, hard}, by RLIMIT number; -1 is infinity
 * @param parentDeathSignal prctl(PR_SET_PDEATHSIG), 0: none
 * @param ownedDescriptors descriptors of the library, not in the image: nothing else may take these numbers
 * @param ownedRanges {start, end} pairs of the library's mappings, not in the image
 * @param jobStopped the process was stopped by SIGSTOP or a terminal stop at the checkpoint
 * @param timerSlackNs of the main thread (prctl(PR_SET_TIMERSLACK)); its other threads have got it from there
 * @param hugePagesDisabled prctl(PR_SET_THP_DISABLE)
 * @param vdsoBuild build id of the kernel's [vdso], in which addresses are known to the process; "" when it has none
 * @param barriers membarrier(2): the MEMBARRIER_CMD_REGISTER_* that it has made, -1: this kernel does not say
 * @param vectorPermissions arch_prctl(2), ARCH_GET_XCOMP_PERM: bit 18 is AMX
 * @param oomAdjustment /proc/PID/oom_score_adj
 */
public record ProcessState(int pid, int parentPid, int processGroup, int session, int rank, String executable,
        String workingDirectory,
        int umask, String name, byte[] auxv, long[] memoryMap, byte[] signalActions, byte[] pendingSignals,
        long[] intervalTimers,
        long[] limits, int personality, int parentDeathSignal, boolean dumpable, boolean childSubreaper,
        boolean noNewPrivileges,
        int[] ownedDescriptors, long[] ownedRanges, boolean jobStopped, long timerSlackNs, boolean hugePagesDisabled,
        String vdsoBuild, int barriers,
        long vectorPermissions, int oomAdjustment) {
    /** As parent: it has ended, and the shepherd, which reaps its orphans, is the parent now. */
    public static final int ADOPTED = -1;

    /** The same process, whose program and working directory are elsewhere. */
    public ProcessState at(String otherExecutable, String otherDirectory) {
        return new ProcessState(pid, parentPid, processGroup, session, rank, otherExecutable, otherDirectory, umask,
                name, auxv, memoryMap, signalActions, pendingSignals,
                intervalTimers, limits, personality, parentDeathSignal, dumpable, childSubreaper, noNewPrivileges,
                ownedDescriptors, ownedRanges, jobStopped, timerSlackNs,
                hugePagesDisabled, vdsoBuild, barriers, vectorPermissions, oomAdjustment);
    }
}
