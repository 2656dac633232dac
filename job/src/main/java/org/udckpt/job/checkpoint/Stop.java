package org.udckpt.job.checkpoint;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.udckpt.image.write.Phase;
import org.udckpt.job.agent.Job;
import org.udckpt.job.command.CommandServer.Progress;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.process.capture.CaptureFailed;
import org.udckpt.process.capture.TimedCalls;
import org.udckpt.process.files.HotFiles;

/** The part of a checkpoint in which the job stands still: suspend, drain, snapshot, resume. */
final class Stop {
    private static final int ATTEMPTS = 20;
    private static final long PAUSE_MS = 100;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    private final Job job;
    private final Stopwatch watch;
    private final Progress progress;
    private final StateListener state;
    private final HotFiles hot;
    private final TimedCalls calls;
    private final boolean last;

    /** Hears in which phase the checkpoint is. */
    @FunctionalInterface
    interface StateListener {
        void now(Phase phase);
    }

    /**
     * @param hot files that have to be copied in the stop
     * @param calls of threads at earlier stops of this life
     * @param last  the ranks are not to go on until what {@link #make} gives is closed: their image will be the last that they do
     */
    Stop(Job job, Progress progress, StateListener state, HotFiles hot, TimedCalls calls, boolean last) {
        this.job = job;
        this.last = last;
        this.hot = hot;
        this.calls = calls;
        this.progress = progress;
        this.watch = new Stopwatch(progress);
        this.state = state;
    }

    /** Returns when the job runs again, or stands for good. When it throws, the job runs too, and nothing is left behind. */
    Frozen make() throws IOException, InterruptedException {
        long giveUp = System.nanoTime() + PATIENCE_NS;
        CaptureFailed last = null;
        for (int attempt = 0; attempt < ATTEMPTS && System.nanoTime() < giveUp; attempt++) {
            try {
                Frozen frozen = attempt();
                if (frozen != null) {
                    watch.tell();
                    look(frozen);
                    frozen.capture().cut().forEach(this::tellCut);
                    frozen.capture().notes().forEach(Messages::warn);
                    return frozen;
                }
            } catch (CaptureFailed e) {
                Messages.debugTrace("the job is suspended anew", e);
                last = e;
            }
            Thread.sleep(PAUSE_MS);
        }
        if (last != null) {
            throw last;
        }
        throw new Failure(ExitCode.BUSY, "the ranks were talking to their process manager (MPI_Init, MPI_Finalize), or opened their first verbs device, each of "
                + ATTEMPTS + " times: try again");
    }

    /** Has the snapshots asked what only they can be asked for: what is refused then is refused by this command, also where nobody waits for the image. */
    private static void look(Frozen frozen) {
        try {
            frozen.capture().image();
        } catch (RuntimeException | Error e) {
            frozen.close();
            throw e;
        }
    }

    private void tellCut(String connection) {
        Messages.warn(connection + ": closed in the image");
        progress.say(connection + ": closed in the image");
    }

    /**
     * Null: a PMI message was under way, whose fate the image would not tell, or a process has opened its first device.
     *
     * @throws CaptureFailed another time it may succeed
     */
    private Frozen attempt() throws IOException, InterruptedException {
        Halt halt = new Halt(job, hot, calls);
        Frozen frozen = null;
        try {
            frozen = attempt(halt);
            return frozen;
        } finally {
            if (frozen == null || !last) {
                halt.close();
            }
        }
    }

    private Frozen attempt(Halt halt) throws IOException {
        watch.start();
        state.now(Phase.SUSPEND);
        halt.suspend();
        watch.ended(Phase.SUSPEND);
        state.now(Phase.DRAIN);
        halt.settle();
        boolean silent = halt.silence();
        watch.ended(Phase.DRAIN);
        if (!silent) {
            return null;
        }
        state.now(Phase.SNAPSHOT);
        Frozen frozen = halt.snapshot(job.pmi().traffic(), last);
        watch.ended(Phase.SNAPSHOT);
        if (frozen != null && last) {
            return frozen.withTimes(watch.times()).standing(halt);
        }
        try {
            state.now(Phase.RESUME);
            Map<Integer, Long> waited = halt.resume();
            waited.forEach((rank, time) -> watch.record(Phase.RESUME, rank, time));
            watch.lap();
        } catch (RuntimeException e) {
            if (frozen != null) {
                frozen.close();
            }
            throw e;
        }
        return frozen == null ? null : frozen.withTimes(watch.times());
    }
}
