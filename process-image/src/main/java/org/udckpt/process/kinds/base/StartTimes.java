package org.udckpt.process.kinds.base;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MonotonicClock;
import org.udckpt.linux.Proc;

/** When processes began. */
public final class StartTimes {
    /** Of a process that has ended, waited for or not. */
    public static final long NEVER = Long.MAX_VALUE;
    /** Field 22 of proc_pid_stat(5), from the third on; per second. */
    private static final int START = 19, TICKS = 100;
    private static final long BOOT = System.currentTimeMillis() / 1000 - MonotonicClock.sinceBoot() / 1_000_000_000L;

    private StartTimes() {}

    /** In seconds since 1970. */
    public static long of(int pid) {
        try {
            String[] stat = Proc.stat(pid);
            return stat[0].equals("Z") && Proc.living(pid) == pid ? NEVER : BOOT + Long.parseLong(stat[START]) / TICKS;
        } catch (LinuxError gone) {
            if (gone.errno() == LinuxError.ENOENT || gone.errno() == LinuxError.ESRCH) {
                return NEVER;
            }
            throw gone;
        }
    }
}
