package org.udckpt.process.capture;

/**
 * Nanoseconds that one rank's processes spent in each phase of a stop. {@code stop} ends when the last thread has
 * stopped; the ranks wait for each other between the phases, so {@code total} (first interrupt to last detach) is what
 * the application misses.
 */
public record PhaseTimes(int rank, int pid, int processes, int threads, long stopNs, long stateNs, long objectsNs,
        long forkNs,
        long resumeNs, long totalNs) {}
