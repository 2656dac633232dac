package org.udckpt.job.life;

import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/** Where the time of a restart goes, from the start of this JVM until the ranks run. */
final class RestartPhases {
    private final StringBuilder text = new StringBuilder();
    private final long startedNs;
    private long lastNs;

    RestartPhases() {
        Instant start = ProcessHandle.current().info().startInstant().orElseThrow(); // in hundredths of a second (proc_pid_stat(5))
        startedNs = System.nanoTime() - Duration.between(start, Instant.now()).toNanos();
        lastNs = startedNs;
        reached("launch");
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
