package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import org.udckpt.linux.Limits;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * A resource limit of a process (setrlimit(2)) that is raised for the moment of a call that a checkpoint makes in it:
 * away altogether where the agent may do that (CAP_SYS_RESOURCE), else up to the hard limit.
 */
final class RaisedLimit implements AutoCloseable {
    private final int pid;
    private final int resource;
    private final long soft;
    private final long hard;
    private final boolean raised;

    /** @param resource RLIMIT_AS, ... */
    RaisedLimit(int pid, int resource) {
        this.pid = pid;
        this.resource = resource;
        long[] limits = Limits.of(pid);
        soft = limits[2 * resource];
        hard = limits[2 * resource + 1];
        raised = soft != Limits.INFINITY
                && (set(Limits.INFINITY, Limits.INFINITY) == 0 || soft != hard && set(hard, hard) == 0);
    }

    private long set(long newSoft, long newHard) {
        return set(pid, newSoft, newHard);
    }

    private long set(int process, long newSoft, long newHard) {
        Scratch.data().set(JAVA_LONG, 0, newSoft);
        Scratch.data().set(JAVA_LONG, 8, newHard);
        return Syscall.call(Syscall.PRLIMIT64, process, resource, Scratch.data().address(), 0);
    }

    /** What it was, also in a copy of the process that was made meanwhile. */
    void lower(int process) {
        if (raised) {
            long result = set(process, soft, hard);
            if (result != -LinuxError.ESRCH) {
                LinuxError.check(result, "limit " + resource + " of process " + process);
            }
        }
    }

    @Override
    public void close() {
        lower(pid);
    }
}
