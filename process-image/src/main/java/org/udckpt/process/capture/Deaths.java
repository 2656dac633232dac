package org.udckpt.process.capture;

import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.process.trace.TraceeGone;

/**
 * What a failure means when a process of the capture was killed in the middle of it: what /proc says of a process that
 * ends fails in as many ways as there are files there (ENOENT, EIO, ESRCH, an empty answer that looks like a reason to refuse).
 */
final class Deaths {
    private static final int FLAGS = 6; // of Proc.stat: field 9 of proc_pid_stat(5)
    private static final long PF_EXITING = 4; // linux/sched.h; set before anything of the process is given back
    private static final long SIGKILL_PENDING = 1L << 9 - 1;

    private Deaths() {}

    /** {@link CaptureFailed}, which is tried again, when a process's end explains the failure; else the failure itself. */
    static RuntimeException explain(List<RankCapture> ranks, RuntimeException failure) {
        if (failure instanceof CaptureFailed) {
            return failure;
        }
        if (failure instanceof TraceeGone) {
            return new CaptureFailed(failure.getMessage(), failure);
        }
        for (RankCapture rank : ranks) {
            if (ends(rank.root.pid())) {
                return ended(name(rank), failure);
            }
            for (TracedProcess process : rank.processes()) {
                if (ends(process.pid)) {
                    return ended(process.toString(), failure);
                }
            }
        }
        return failure instanceof LinuxError e && e.errno() == LinuxError.ESRCH
                ? new CaptureFailed("a process ended while it was captured: " + failure.getMessage(), failure) : failure;
    }

    private static String name(RankCapture rank) {
        return TracedProcess.root(rank.root).toString();
    }

    private static CaptureFailed ended(String process, RuntimeException failure) {
        return new CaptureFailed("%s ended while it was captured (%s)".formatted(process, failure.getMessage()), failure);
    }

    private static boolean ends(int pid) {
        try {
            return (Long.parseLong(Proc.stat(pid)[FLAGS]) & PF_EXITING) != 0 || killed(Proc.text("/proc/" + pid + "/status"));
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
