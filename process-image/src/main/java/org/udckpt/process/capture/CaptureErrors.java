package org.udckpt.process.capture;

import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.process.files.FilesRefused;
import org.udckpt.process.trace.TraceeGone;

/**
 * What a failure means when a process of the capture was killed in the middle of it: what /proc says of a process that
 * ends fails in as many ways as there are files there (ENOENT, EIO, ESRCH, an empty answer that looks like a reason to
 * refuse).
 */
final class CaptureErrors {
    private static final int FLAGS = 6; // of Proc.stat: field 9 of proc_pid_stat(5)
    private static final long PF_EXITING = 4; // linux/sched.h; set before anything of the process is given back
    private static final long SIGKILL_PENDING = 1L << 9 - 1, KILL_NS = 1_000_000;

    private CaptureErrors() {}

    /** Whether a failure is a refusal: it is reported first, since it will be there the next time, too. */
    static boolean isRefusal(RuntimeException failure) {
        return failure instanceof CaptureRefused || failure instanceof FilesRefused;
    }

    /**
     * {@link CaptureFailed}, which is tried again, when a process's end explains the failure; else the failure itself.
     * To be asked while the processes still stand: one that ends when it runs again is no reason. A refusal is one for
     * ever, so it stands unless the process that is refused has been killed, or another one that stood still, whose end
     * may look like the end of what they shared.
     */
    static RuntimeException explain(List<RankCapture> ranks, RuntimeException failure) {
        if (failure instanceof CaptureFailed) {
            return failure;
        }
        if (failure instanceof CaptureRefused || failure instanceof FilesRefused) {
            return explainRefusal(ranks, failure);
        }
        if (failure instanceof TraceeGone) {
            return new CaptureFailed(failure.getMessage(), failure);
        }
        for (RankCapture rank : ranks) {
            if (ends(Proc.living(rank.root.pid()))) {
                return ended(name(rank), failure);
            }
            for (TracedProcess process : rank.processes()) {
                if (ends(process.task())) {
                    return ended(process.toString(), failure);
                }
            }
        }
        if (failure instanceof LinuxError e && e.errno() == LinuxError.EPERM && e.getMessage().startsWith("kcmp")) {
            return new CaptureRefused(TracedProcess.root(ranks.getFirst().root), -1,
                    "this system does not permit to compare processes (kcmp(2)): start the container with "
                            + "CAP_SYS_PTRACE (--cap-add SYS_PTRACE), or with another seccomp profile");
        }
        return failure instanceof LinuxError e && e.errno() == LinuxError.ESRCH
                ? new CaptureFailed("a process ended while it was captured: " + failure.getMessage(), failure)
                : failure;
    }

    private static RuntimeException explainRefusal(List<RankCapture> ranks, RuntimeException refusal) {
        int refused = refusal instanceof CaptureRefused named ? named.pid() : -1;
        LockSupport.parkNanos(KILL_NS); // a SIGKILL that was just taken is neither pending nor seen in the flags yet
        for (RankCapture rank : ranks) {
            for (TracedProcess process : rank.processes()) {
                boolean stood = process.threads.stream().allMatch(thread -> thread.stopped);
                if ((stood || process.pid == refused) && endsWhole(process.pid)) {
                    return ended(process.toString(), refusal);
                }
            }
        }
        return refusal;
    }

    /** Not the main thread alone. */
    static boolean endsWhole(int pid) {
        for (int tid : Proc.threads(pid)) {
            try {
                String stat = Proc.text("/proc/" + pid + "/task/" + tid + "/stat");
                long flags = Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[FLAGS]);
                if ((flags & PF_EXITING) == 0 && !killed(Proc.text("/proc/" + pid + "/task/" + tid + "/status"))) {
                    return false;
                }
            } catch (LinuxError gone) {
                continue; // this one has ended
            }
        }
        return true;
    }

    private static String name(RankCapture rank) {
        return TracedProcess.root(rank.root).toString();
    }

    private static CaptureFailed ended(String process, RuntimeException failure) {
        return new CaptureFailed("%s ended while it was captured (%s)".formatted(process, failure.getMessage()),
                failure);
    }

    /** Whether a process has ended, or is about to: its end has begun, or a SIGKILL waits for it. */
    static boolean ends(int pid) {
        try {
            return (Long.parseLong(Proc.stat(pid)[FLAGS]) & PF_EXITING) != 0
                    || killed(Proc.text("/proc/" + pid + "/status"));
        } catch (LinuxError gone) {
            return true;
        }
    }

    private static boolean killed(String status) {
        return ((pending(status, "SigPnd:") | pending(status, "ShdPnd:")) & SIGKILL_PENDING) != 0;
    }

    private static long pending(String status, String key) {
        String mask = Proc.field(status, key);
        return mask == null ? 0 : Long.parseUnsignedLong(mask, 16);
    }
}
