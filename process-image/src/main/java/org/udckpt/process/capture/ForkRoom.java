package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Limits;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;

/**
 * Room for the snapshots in an ordinary user's limit of processes (RLIMIT_NPROC): while they are made, what the processes may have is what their hard limits
 * allow. Root's are not counted.
 */
final class ForkRoom implements AutoCloseable {
    private static final int RLIMIT_NPROC = 6;

    /** pid -> its soft limit; the hard one */
    private final Map<Integer, long[]> before = new LinkedHashMap<>();

    ForkRoom(List<TracedProcess> processes) {
        if (User.id() == 0) {
            return;
        }
        for (TracedProcess process : processes) {
            long[] limits = Limits.of(process.pid);
            long soft = limits[2 * RLIMIT_NPROC];
            long hard = limits[2 * RLIMIT_NPROC + 1];
            if (soft != hard && set(process.pid, hard, hard) == 0) {
                before.put(process.pid, new long[] {soft, hard});
            }
        }
    }

    /** Whether a fork that failed with EAGAIN never succeeds: this process alone has more threads than the user may have. */
    static boolean isHopeless(TracedProcess process) {
        long hard = Limits.of(process.pid)[2 * RLIMIT_NPROC + 1];
        return User.id() != 0 && hard != Limits.INFINITY && hard <= Proc.threads((int) ProcessHandle.current().pid()).length;
    }

    private static long set(int pid, long soft, long hard) {
        Scratch.data().set(JAVA_LONG, 0, soft);
        Scratch.data().set(JAVA_LONG, 8, hard);
        return Syscall.call(Syscall.PRLIMIT64, pid, RLIMIT_NPROC, Scratch.data().address(), 0);
    }

    @Override
    public void close() {
        before.forEach((pid, limit) -> {
            long result = set(pid, limit[0], limit[1]);
            if (result != -LinuxError.ESRCH) {
                LinuxError.check(result, "limit of processes of process " + pid);
            }
        });
    }
}
