package org.udckpt.job.life;

import java.time.Duration;
import java.util.OptionalInt;
import org.udckpt.job.agent.Signals;
import org.udckpt.job.report.Messages;

/** What the user's signals mean while no process of the job is there that could get them: an end, if they ask for one. */
final class BetweenLives {
    private int end;

    /** The job's life is over: its signals come here until the next life takes them. One that a life heard of which nothing came counts as well. */
    synchronized void begin() {
        Signals.redirect(this::signal);
        end = end == 0 ? Signals.askedEnd() : end;
    }

    private synchronized void signal(int number) {
        if (Signals.asksForEnd(number)) {
            end = number;
            notifyAll();
        } else {
            Messages.warn(Signals.name(number) + " (signal " + number + ") is lost: the job is being restarted");
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
