package org.udckpt.lifecycle.checkpoint;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.udckpt.agent.command.CommandServer.Progress;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.support.report.Durations;

/** The wall-clock time of each phase: the ranks wait for each other between phases, so it is each rank's time too. */
final class Stopwatch {
    private final Progress progress;
    private final List<PhaseTime> times = new ArrayList<>();
    private long last = System.nanoTime();
    private long waited;

    Stopwatch(Progress progress) {
        this.progress = progress;
    }

    /** A new attempt: what is done until now belonged to no phase of it. */
    void start() {
        times.clear();
        waited = 0;
        last = System.nanoTime();
    }

    /** The phase ended now, or a part of it. */
    void ended(Phase phase) {
        long duration = lap();
        for (int i = 0; i < times.size(); i++) {
            PhaseTime before = times.get(i);
            if (before.phase() == phase && before.rank() == PhaseTime.JOB) {
                times.set(i, new PhaseTime(PhaseTime.JOB, phase, before.nanoseconds() + duration));
                return;
            }
        }
        record(phase, PhaseTime.JOB, duration);
    }

    /** What was done until now was done by other nodes. */
    void waited() {
        waited += lap();
    }

    /** All other nodes have done their parts of the stop too. */
    void endOfWaits() {
        waited();
        record(Phase.WAIT, PhaseTime.JOB, waited);
    }

    long lap() {
        long now = System.nanoTime();
        long duration = now - last;
        last = now;
        return duration;
    }

    void record(Phase phase, int rank, long nanoseconds) {
        times.add(new PhaseTime(rank, phase, nanoseconds));
    }

    List<PhaseTime> times() {
        return List.copyOf(times);
    }

    /** Tells the phases; not while the job stands still. */
    void tell() {
        for (PhaseTime time : times) {
            if (time.rank() == PhaseTime.JOB) {
                progress.say(time.phase().name().toLowerCase(Locale.ROOT) + " " + Durations.format(time.nanoseconds()));
            }
        }
    }
}
