package org.udckpt.process.capture;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessHandleFd;

/**
 * The main thread of a process that has ended while others run (pthread_exit(3) in main). It is a zombie, which keeps
 * the process's number, until they end; what the process has is seen through one of them. A restart makes it and lets
 * it end again.
 */
final class EndedMain {
    private static final int SS_DISABLE = 2; // sigaltstack(2)

    private EndedMain() {}

    /** In the stop, before anything is read: whether it can be captured. */
    static void found(TracedProcess process) {
        process.mainEnded();
        if (process.main().jobStopped) { // the kernel tells of the stop then, and not of the end (proc_pid_stat(5))
            throw process.refuse("its main thread has ended while others run, and it is stopped by signal "
                    + process.main().stopSignal + ": let it go on first (SIGCONT)");
        }
        if (!process.mainEnd.exited()) {
            throw process.refuse("its main thread was ended by signal " + process.mainEnd.signal()
                    + ", while others run: a restart cannot end it so again");
        }
        try {
            new ProcessHandleFd(process.task()).close();
        } catch (LinuxError unknown) {
            if (unknown.errno() == LinuxError.ESRCH) {
                throw new CaptureFailed(process + " ended before it could be stopped", unknown);
            }
            throw process.refuse("its main thread has ended while others run (pthread_exit in main): to checkpoint "
                    + "that needs Linux 6.9");
        }
    }

    /** When the others have been read: its memory, its descriptors and its processor state are gone. */
    static TracedThread of(TracedProcess process) {
        TracedThread like = process.main();
        TracedThread ended = new TracedThread(process.pid);
        ended.namespaceTid = process.namespacePid;
        ended.status = TaskStatus.of(process.pid, process.pid);
        ended.name = ThreadReader.name("/proc/" + process.pid + "/task/" + process.pid);
        ended.xstate = like.xstate;
        ended.pendingSignals = new byte[0];
        ended.rseq = new long[4];
        ended.altStackFlags = SS_DISABLE;
        ended.affinity = new byte[0];
        ended.secureBits = like.secureBits;
        return ended;
    }

    /**
     * A parent's death is that of the thread which made the child (prctl(2), PR_SET_PDEATHSIG): a restart makes it by
     * the main thread, whose end would be told.
     */
    static void refuse(TracedProcess process) {
        boolean parents = process.parent != null && process.parent.mainEnd != null;
        if (process.parentDeathSignal != 0 && (process.mainEnd != null || parents)) {
            throw process.refuse("it is to be told of its parent's death (prctl(2), PR_SET_PDEATHSIG), and the main "
                    + "thread of " + (parents ? "its parent" : "this process") + " has ended while others run, which "
                    + "cannot be checkpointed together");
        }
    }
}
