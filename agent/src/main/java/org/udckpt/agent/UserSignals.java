package org.udckpt.agent;

import static org.udckpt.linux.LinuxConstants.SIGINT;

import java.util.function.IntConsumer;
import org.udckpt.support.report.Messages;

/**
 * Signals that a user sends to udckpt, on one host and on several: the ranks get them. A second INT ends the job by
 * force, as under mpiexec, since the job may handle the first.
 */
public final class UserSignals {
    private static final int FORCED_CODE = 128 + SIGINT; // as shells have it for a command that ^C ended

    private final EndRequest askedEnd;
    private final IntConsumer ranks;
    private final IntConsumer force;
    private boolean interrupted;

    /**
     * @param askedEnd is told of each signal
     * @param ranks    sends a signal to all ranks
     * @param force    ends the job at once, with this exit code
     */
    public UserSignals(EndRequest askedEnd, IntConsumer ranks, IntConsumer force) {
        this.askedEnd = askedEnd;
        this.ranks = ranks;
        this.force = force;
    }

    /** From any thread. */
    public synchronized void received(int number) {
        askedEnd.signal(number);
        if (number != SIGINT) {
            ranks.accept(number);
        } else if (!interrupted) {
            interrupted = true;
            Messages.info("INT (^C) was sent to the ranks; press ^C again to kill the job");
            ranks.accept(number);
        } else {
            Messages.error("INT (^C) again: killing the job", null);
            force.accept(FORCED_CODE);
        }
    }
}
