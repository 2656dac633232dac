package org.udckpt.lifecycle;

import java.time.Duration;
import java.util.OptionalInt;
import org.udckpt.agent.SignalForwarding;
import org.udckpt.support.report.Messages;

/**
 * What the user's signals mean while no process of the job is there that could get them: an end, if they ask for one.
 */
final class SignalsBetweenRuns {
    private int end;

    /**
     * The job's incarnation is over: its signals come here until the next incarnation takes them. One that an
     * incarnation heard of which nothing came counts as well.
     */
    synchronized void begin() {
        SignalForwarding.redirect(this::signal);
        end = end == 0 ? SignalForwarding.askedEnd() : end;
    }

    private synchronized void signal(int number) {
        if (SignalForwarding.asksForEnd(number)) {
            end = number;
            notifyAll();
        } else {
            Messages.warn(
                    SignalForwarding.name(number) + " (signal " + number + ") is lost: the job is being restarted");
        }
    }

    /** The signal that asked for an end; waits for one, so long. */
    synchronized OptionalInt awaitEnd(Duration pause) throws InterruptedException {
        long deadline = System.nanoTime() + pause.toNanos();
        for (long left = pause.toNanos(); end == 0 && left > 0; left = deadline - System.nanoTime()) {
            wait(left / 1_000_000 + 1);
        }
        return end == 0 ? OptionalInt.empty() : OptionalInt.of(end);
    }
}
