package org.udckpt.process.kinds.ipc;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MonotonicClock;
import org.udckpt.linux.Proc;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.StoppedProcess;

/**
 * Who is a process that has used an object of an IPC namespace which others use, too. The kernel keeps the number of
 * the last one only, and numbers are used again: a process that began later is not meant. Each process is looked at
 * once, however many objects it has used.
 */
final class IpcUsers {
    /** By {@link #user}. */
    enum User {
        /** The number is 0. */
        NOBODY,
        /** A process of the job. */
        JOB,
        /** It has ended, and may have been the job's. */
        ENDED,
        /** A process that is not the job's. */
        STRANGER
    }

    /** Field 22 of proc_pid_stat(5), from the third on; per second; seconds by which the kernel's clocks may differ. */
    private static final int START = 19, TICKS = 100, SLACK = 2;
    private static final long NEVER = Long.MAX_VALUE;

    private final Map<Integer, StoppedProcess> job = new HashMap<>();
    /** Seconds since 1970, by pid. */
    private final Map<Integer, Long> starts = new HashMap<>();
    private final long boot = System.currentTimeMillis() / 1000 - MonotonicClock.sinceBoot() / 1_000_000_000L;
    private long first = NEVER;

    IpcUsers(List<AskedProcess> processes) {
        processes.forEach(process -> job.put(process.pid(), process));
    }

    /** @param when it used the object, in seconds since 1970 */
    User user(int pid, long when) {
        if (pid == 0) {
            return User.NOBODY;
        }
        if (start(pid) > when + SLACK) {
            return User.ENDED;
        }
        return job.containsKey(pid) ? User.JOB : User.STRANGER;
    }

    /** Whether something was done when the job ran already. */
    boolean sinceStart(long when) {
        if (first == NEVER) {
            job.keySet().forEach(pid -> first = Math.min(first, start(pid)));
        }
        return when >= first - SLACK;
    }

    /** Whether that is the user of a process of the job, real or effective. */
    boolean creates(int uid) {
        String wanted = Integer.toUnsignedString(uid);
        return job.values().stream().anyMatch(process -> {
            String[] users = Proc.field(Proc.whole("/proc/" + process.pid() + "/status"), "Uid:").split("\\s+");
            return users[0].equals(wanted) || users[1].equals(wanted);
        });
    }

    private long start(int pid) {
        return starts.computeIfAbsent(pid, IpcUsers::ticks) == NEVER ? NEVER : boot + starts.get(pid) / TICKS;
    }

    /** {@link #NEVER}: it has ended, waited for or not. */
    private static long ticks(int pid) {
        try {
            String[] stat = Proc.stat(pid);
            return stat[0].equals("Z") && Proc.living(pid) == pid ? NEVER : Long.parseLong(stat[START]);
        } catch (LinuxError gone) {
            if (gone.errno() == LinuxError.ENOENT || gone.errno() == LinuxError.ESRCH) {
                return NEVER;
            }
            throw gone;
        }
    }
}
