package org.udckpt.process.capture;

import static org.udckpt.linux.LinuxConstants.PR_SET_CHILD_SUBREAPER;

import java.util.List;
import org.udckpt.linux.Syscall;

/**
 * The job's processes that take orphans in (PR_SET_CHILD_SUBREAPER): while snapshots are made they do not, or these
 * would become their children, and each end of a snapshot a SIGCHLD and a number that they do not know. An agent that
 * is killed in these milliseconds leaves them so.
 */
final class Subreapers {
    private final List<TracedProcess> all;

    Subreapers(List<TracedProcess> processes) {
        all = processes.stream().filter(process -> process.childSubreaper).toList();
    }

    void off() {
        all.forEach(process -> set(process, 0));
    }

    /**
     * All of them, whatever happened since.
     *
     * @param failure what has failed before, or null
     * @return that, with what fails here
     */
    RuntimeException on(RuntimeException failure) {
        RuntimeException first = failure;
        for (TracedProcess process : all) {
            try {
                set(process, 1);
            } catch (RuntimeException e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        return first;
    }

    private static void set(TracedProcess process, int value) {
        process.main().injector.check("prctl(PR_SET_CHILD_SUBREAPER)", Syscall.PRCTL, PR_SET_CHILD_SUBREAPER, value);
    }
}
