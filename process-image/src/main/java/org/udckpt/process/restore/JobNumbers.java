package org.udckpt.process.restore;

import java.util.HashMap;
import java.util.Map;

/** What tracees know of each other: who has which number, and how the kernel is made to give one. */
final class JobNumbers {
    private final RestoreTarget target;
    /** Those that are there, by the job's numbers. */
    private final Map<Integer, Tracee> made = new HashMap<>();
    /** This process's number of the first. */
    private int first;

    JobNumbers(RestoreTarget target) {
        this.target = target;
    }

    void put(Tracee tracee) {
        first = first == 0 ? tracee.hostPid() : first;
        made.put(tracee.pid(), tracee);
    }

    void remove(Tracee tracee) {
        made.remove(tracee.pid(), tracee);
    }

    /** This process's number of what the job numbers so: a tracee, or the shepherd. */
    int host(int pid) {
        Tracee tracee = made.get(pid);
        return tracee != null ? tracee.hostPid() : Handover.host(first, pid);
    }

    /** The next process or thread of the job gets the number that follows. */
    void last(int pid) {
        target.last(pid);
    }
}
