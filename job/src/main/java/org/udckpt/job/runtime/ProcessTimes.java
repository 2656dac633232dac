package org.udckpt.job.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Tells whether a process still is the one that it was. */
public final class ProcessTimes {
    private static final int STATE_FIELD = 0;
    private static final int START_FIELD = 19; // proc(5): field 22; the fields after the name begin with field 3

    private ProcessTimes() {}

    /** Start time in clock ticks since boot, or -1 when there is no such process (or only its zombie). */
    public static long start(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" "); // the name may hold spaces and brackets
            return fields[STATE_FIELD].equals("Z") ? -1 : Long.parseLong(fields[START_FIELD]);
        } catch (IOException e) {
            return -1; // ENOENT or ESRCH: gone
        }
    }

    public static boolean isAlive(long pid, long start) {
        return start >= 0 && start(pid) == start;
    }
}
