package org.udckpt.process.model;

/**
 * What the kernel is to tell a process about a file, or had told it: beside what {@link KernelObject} and
 * {@link InotifyWatch} say.
 */
public sealed interface FileNotice {
    /** Number of an open file or an inotify descriptor. */
    long object();

    /**
     * A lease on open file {@code object} (fcntl(2), F_SETLEASE): its holder hears of it before somebody else opens or
     * cuts the file.
     *
     * @param exclusive a write lease, which any open breaks; else a read lease, which an open for writing breaks
     * @param type F_OWNER_TID 0, F_OWNER_PID 1, F_OWNER_PGRP 2
     * @param receiver the thread, process or group that gets the signal; 0: nobody
     * @param signal F_SETSIG, 0: SIGIO
     */
    record Lease(long object, boolean exclusive, int type, int receiver, int signal) implements FileNotice {}

    /**
     * Inotify descriptor {@code object} had events that were not read. They are not in the image; that some were lost
     * is told at a restart (IN_Q_OVERFLOW).
     */
    record LostEvents(long object) implements FileNotice {}
}
