package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.udckpt.agent.Job;
import org.udckpt.agent.command.CommandServer.Progress;
import org.udckpt.image.write.Phase;
import org.udckpt.process.capture.CaptureFailed;
import org.udckpt.process.capture.TimedCalls;
import org.udckpt.process.files.HotFiles;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/** The part of a checkpoint in which the job stands still: suspend, drain, snapshot, resume. */
final class StopPhase {
    private static final int ATTEMPTS = 20;
    private static final long PAUSE_MS = 100;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);

    private final Job job;
    private final Stopwatch watch;
    private final Progress progress;
    private final StateListener state;
    private final HotFiles hot;
    private final TimedCalls calls;
    private final StopOptions options;

    /** Hears in which phase the checkpoint is. */
    @FunctionalInterface
    interface StateListener {
        void now(Phase phase);
    }

    /**
     * @param hot files that have to be copied in the stop
     * @param calls of threads at earlier stops of this incarnation
     * @param options {@code last}: ranks stay stopped until the snapshot that {@link #make} returns is closed
     */
    StopPhase(Job job, Progress progress, StateListener state, HotFiles hot, TimedCalls calls, StopOptions options) {
        this.job = job;
        this.options = options;
        this.hot = hot;
        this.calls = calls;
        this.progress = progress;
        this.watch = new Stopwatch(progress);
        this.state = state;
    }

    /**
     * Returns when the job runs again, or stands for good. When it throws, the job runs too, and nothing is left
     * behind.
     */
    NodeSnapshot make() throws IOException, InterruptedException {
        long giveUp = System.nanoTime() + TIMEOUT_NS;
        CaptureFailed lastFailure = null;
        int attempts = 0;
        while (attempts < ATTEMPTS && System.nanoTime() < giveUp) {
            attempts++;
            try {
                NodeSnapshot snapshot = attempt();
                if (snapshot != null) {
                    watch.tell();
                    look(snapshot);
                    snapshot.capture().closedConnections().forEach(this::tellClosed);
                    snapshot.capture().notes().forEach(Messages::warn);
                    return snapshot;
                }
            } catch (CaptureFailed e) {
                Messages.debugTrace("the job is suspended anew", e);
                lastFailure = e;
            }
            Thread.sleep(PAUSE_MS);
        }
        if (lastFailure != null) {
            throw lastFailure;
        }
        throw new Failure(ExitCode.BUSY, "ranks were in MPI_Init or MPI_Finalize, or opening their first verbs device, "
                + "in each of " + attempts + " attempts within " + TimeUnit.NANOSECONDS.toSeconds(TIMEOUT_NS)
                + " s; try again later");
    }

    /**
     * Asks the snapshots for what only they can answer. Refusals that come of this are this command's, also if it does
     * not wait for the image.
     */
    private static void look(NodeSnapshot snapshot) {
        try {
            snapshot.capture().image();
        } catch (RuntimeException | Error e) {
            snapshot.close();
            throw e;
        }
    }

    private Tracers debuggers() {
        return options.detachDebuggers() ? Tracers.detached(this::tell) : Tracers.refused();
    }

    private void tell(String message) {
        Messages.warn(message);
        progress.say(message);
    }

    private void tellClosed(String connection) {
        tell(connection + ": closed in the image");
    }

    /**
     * One attempt. Null: a PMI message was under way, whose fate the image would not tell, or a process was opening its
     * first device.
     *
     * @throws CaptureFailed a later attempt may succeed
     */
    private NodeSnapshot attempt() throws IOException, InterruptedException {
        QuiesceSession session = new QuiesceSession(job, hot, calls, debuggers());
        NodeSnapshot snapshot = null;
        try {
            snapshot = attempt(session);
            return snapshot;
        } finally {
            if (snapshot == null || !options.last()) {
                session.close();
            }
        }
    }

    private NodeSnapshot attempt(QuiesceSession session) throws IOException {
        watch.start();
        state.now(Phase.SUSPEND);
        session.suspend();
        watch.ended(Phase.SUSPEND);
        state.now(Phase.DRAIN);
        session.settle();
        boolean drained = session.drain();
        watch.ended(Phase.DRAIN);
        if (!drained) {
            return null;
        }
        state.now(Phase.SNAPSHOT);
        NodeSnapshot snapshot = session.snapshot(job.pmi().traffic(), options.last());
        watch.ended(Phase.SNAPSHOT);
        if (snapshot != null && options.last()) {
            return snapshot.withTimes(watch.times()).standing(session);
        }
        try {
            state.now(Phase.RESUME);
            Map<Integer, Long> waited = session.resume();
            waited.forEach((rank, time) -> watch.record(Phase.RESUME, rank, time));
            watch.lap();
        } catch (RuntimeException e) {
            if (snapshot != null) {
                snapshot.close();
            }
            throw e;
        }
        return snapshot == null ? null : snapshot.withTimes(watch.times());
    }
}
