package org.udckpt.support.runtime;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/** Tells whether a process still is the one that it was. */
public final class ProcessTimes {
    private static final int STATE_FIELD = 0;
    private static final int START_FIELD = 19; // proc(5): field 22; the fields after the name begin with field 3

    private ProcessTimes() {}

    /** Start time in clock ticks since boot, or -1 when there is no such process (or only its zombie). */
    public static long start(long pid) {
        try {
            String stat = Proc.text("/proc/" + pid + "/stat"); // the name in it need not be UTF-8
            // the name may hold spaces and brackets
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return fields[STATE_FIELD].equals("Z") ? -1 : Long.parseLong(fields[START_FIELD]);
        } catch (LinuxError e) {
            return -1; // ENOENT or ESRCH: gone
        }
    }

    public static boolean isAlive(long pid, long start) {
        return start >= 0 && start(pid) == start;
    }
}
