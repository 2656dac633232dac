package org.udckpt.job.checkpoint;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.udckpt.image.write.Phase;
import org.udckpt.job.agent.Job;
import org.udckpt.job.command.CommandServer.Progress;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Outside;
import org.udckpt.job.pmi.PmiState;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.store.JobState;
import org.udckpt.process.capture.Capture;
import org.udckpt.process.capture.CaptureFailed;
import org.udckpt.process.capture.CaptureRequest;
import org.udckpt.process.files.HotFiles;
import org.udckpt.ud.LibraryConnection;
import org.udckpt.ud.Message;

/** The part of a checkpoint in which the job stands still: suspend, drain, snapshot, resume. */
final class Stop {
    private static final int ATTEMPTS = 20;
    private static final long PAUSE_MS = 100;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    private final Job job;
    private final Stopwatch watch;
    private final Progress progress;
    private final StateListener state;
    private final CaptureRequest.StandardStreams streams;
    private final HotFiles hot;

    /** Hears in which phase the checkpoint is. */
    @FunctionalInterface
    interface StateListener {
        void now(Phase phase);
    }

    /** @param hot files that have to be copied in the stop */
    Stop(Job job, Progress progress, StateListener state, HotFiles hot) {
        this.job = job;
        this.hot = hot;
        this.progress = progress;
        this.watch = new Stopwatch(progress);
        this.state = state;
        this.streams = CaptureRequest.StandardStreams.of((int) ProcessHandle.current().pid());
    }

    /** Returns when the job runs again. When it throws, the job runs too, and nothing is left behind. */
    Frozen make() throws IOException, InterruptedException {
        long giveUp = System.nanoTime() + PATIENCE_NS;
        CaptureFailed last = null;
        for (int attempt = 0; attempt < ATTEMPTS && System.nanoTime() < giveUp; attempt++) {
            try {
                Frozen frozen = attempt();
                if (frozen != null) {
                    watch.tell();
                    frozen.capture().cut().forEach(this::tellCut);
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
        if (!job.ranks().allAlive()) {
            throw new Failure(ExitCode.BUSY, "a rank of job " + job.facts().name() + " has ended: it is too late for a checkpoint");
        }
        List<LibraryConnection> connections = List.copyOf(job.control().connections());
        Tracers.refuse(job.ranks().ranks());
        Gates gates = new Gates(connections, job.settings().duration(Option.QUIESCE_TIMEOUT));
        boolean resumed = false;
        watch.start();
        try {
            state.now(Phase.SUSPEND);
            Map<LibraryConnection, Message.Quiesced> owned = gates.close();
            watch.ended(Phase.SUSPEND);
            state.now(Phase.DRAIN);
            gates.drain();
            watch.ended(Phase.DRAIN);
            if (!connections.containsAll(job.control().connections())) {
                return null; // the capture would find it too, but only with the job stopped
            }
            state.now(Phase.SNAPSHOT);
            Frozen frozen = snapshot(owned);
            watch.ended(Phase.SNAPSHOT);
            try {
                state.now(Phase.RESUME);
                Map<Integer, Long> waited = gates.open();
                resumed = true;
                waited.forEach((rank, time) -> watch.record(Phase.RESUME, rank, time));
                watch.lap();
            } catch (RuntimeException e) {
                if (frozen != null) {
                    frozen.close();
                }
                throw e;
            }
            return frozen == null ? null : new Frozen(frozen.capture(), frozen.state(), frozen.numbered(), frozen.takenAt(), watch.times());
        } finally {
            if (!resumed) {
                gates.openAfterFailure();
            }
        }
    }

    private Frozen snapshot(Map<LibraryConnection, Message.Quiesced> owned) throws IOException {
        long traffic = job.pmi().traffic();
        PmiState pmi = job.pmi().state();
        JobState agents = JobState.of(job.facts(), job.namedRuntime(), pmi, job.addresses().copy());
        Instant now = Instant.now();
        var numbered = job.numbers().all(); // of all that will be in the image: some may end a moment after the stop
        Capture capture = Capture.take(new CaptureRequest(Roots.of(job.facts().launch(), job.ranks().ranks(), owned), streams, Outside.of(job.settings()) == Outside.CLOSE,
                JobFiles.request(job, hot)));
        try {
            for (int pid : capture.snapshotPids()) {
                job.shepherd().expect(pid);
            }
            if (job.pmi().traffic() == traffic) {
                return new Frozen(capture, agents, numbered, now, watch.times());
            }
        } catch (RuntimeException e) {
            capture.close();
            throw e;
        }
        capture.close();
        return null;
    }
}
