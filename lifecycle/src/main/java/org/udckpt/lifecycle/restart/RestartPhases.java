package org.udckpt.lifecycle.restart;

import org.udckpt.linux.MonotonicClock;
import org.udckpt.linux.Proc;

/**
 * Where the time of a restart goes, from the start of this JVM (or of the restart, where it is not this JVM's first)
 * until the ranks run.
 */
public final class RestartPhases {
    /** Fields of /proc/PID/stat behind the name; a tick of it is a hundredth of a second (USER_HZ). */
    private static final int START_TIME = 19, TICK_NS = 10_000_000;

    private final StringBuilder text = new StringBuilder();
    private final long startedNs;
    private long lastNs;

    private RestartPhases(long startedNs) {
        this.startedNs = startedNs;
        this.lastNs = startedNs;
    }

    /** For a job whose restart this process was started for. */
    static RestartPhases sinceLaunch() {
        RestartPhases phases = new RestartPhases(System.nanoTime() - ageNs());
        phases.reached("launch");
        return phases;
    }

    /**
     * Of this process, to a hundredth of a second (proc_pid_stat(5)); a ProcessHandle adds whole seconds to them, of
     * the time of day.
     */
    private static long ageNs() {
        String stat = Proc.text("/proc/self/stat");
        long startedTicks = Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[START_TIME]);
        return MonotonicClock.sinceBoot() - startedTicks * TICK_NS;
    }

    public static RestartPhases sinceNow() {
        return new RestartPhases(System.nanoTime());
    }

    /** A phase has ended. */
    void reached(String phase) {
        long now = System.nanoTime();
        text.append(text.isEmpty() ? "" : ", ").append(phase).append(' ').append((now - lastNs) / 1_000_000)
                .append(" ms");
        lastNs = now;
    }

    /** What was done by others until now is in no phase. */
    void goOn() {
        lastNs = System.nanoTime();
    }

    long sinceStartNs() {
        return System.nanoTime() - startedNs;
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
