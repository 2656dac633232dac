package org.udckpt.job.life;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/** Where the time of a restart goes, from the start of this JVM (or of the restart, where it is not this JVM's first) until the ranks run. */
final class RestartPhases {
    private final StringBuilder text = new StringBuilder();
    private final long startedNs;
    private long lastNs;

    private RestartPhases(long startedNs) {
        this.startedNs = startedNs;
        this.lastNs = startedNs;
    }

    /** Of a job whose restart this process was started for. */
    static RestartPhases sinceLaunch() {
        Instant start = ProcessHandle.current().info().startInstant().orElseThrow(); // in hundredths of a second (proc_pid_stat(5))
        RestartPhases phases = new RestartPhases(System.nanoTime() - Duration.between(start, Instant.now()).toNanos());
        phases.reached("launch");
        return phases;
    }

    static RestartPhases sinceNow() {
        return new RestartPhases(System.nanoTime());
    }

    /** A phase has ended. */
    void reached(String phase) {
        long now = System.nanoTime();
        text.append(text.isEmpty() ? "" : ", ").append(String.format(Locale.ROOT, "%s %d ms", phase, (now - lastNs) / 1_000_000));
        lastNs = now;
    }

    long sinceStartNs() {
        return System.nanoTime() - startedNs;
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
