package org.udckpt.process.restore;

import java.nio.file.Path;

/** Where a job is restored to: the shepherd that is pid 1 of its namespaces (docs/interfaces.md), and its new agent. */
public interface RestoreTarget {
    /**
     * The shepherd's {@code clock}, once, before the first stub: this is what CLOCK_MONOTONIC and CLOCK_BOOTTIME of the job differ by from this
     * machine's, in nanoseconds.
     */
    void clock(long offsetNs);

    /** The shepherd's {@code stub}: a paused child of pid 1 with this pid; its pid as this process sees it. */
    int stub(int pid);

    /**
     * The shepherd's {@code pmi}: a new PMI connection of this rank; its descriptor number in pid 1. The agent first
     * sends {@code queued} on it: answers that the rank had not read at the checkpoint.
     */
    int pmi(int rank, byte[] queued);

    /** The shepherd's {@code taken}: the rank, or the agent, has its copy of that descriptor. */
    void taken(int descriptor);

    /** The shepherd's {@code lazy}: the number, in pid 1, of the agent's end of a socket over which both hold what fills memory; {@link #taken} too. */
    int lazy();

    /** The shepherd's {@code go}: the processes are complete and will outlive this one. */
    void go();

    /** A phase of the restore has ended. */
    default void reached(String phase) {}

    /** The new agent's socket, to which the preloaded library's control connection is connected again. */
    Path agentSocket();
}
