package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.udckpt.agent.Job;
import org.udckpt.image.ImageError;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.PartReport;
import org.udckpt.image.write.PageHistory;
import org.udckpt.image.write.PartOrder;
import org.udckpt.image.write.PartWriter;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.StopTimes;
import org.udckpt.image.write.WriteMeter;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.process.capture.CaptureFailed;
import org.udckpt.process.capture.TimedCalls;
import org.udckpt.process.files.HotFiles;
import org.udckpt.process.huge.HugePages;
import org.udckpt.process.model.Region;
import org.udckpt.store.FilePlace;
import org.udckpt.store.ImageProcesses;
import org.udckpt.store.RankRow;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * A unit's part of the checkpoints of a job of several nodes: what the coordinator asks for, phase by phase
 * (docs/internals/coordination.md). One thread at a time, but for {@link #cancel}. Whatever has failed, {@link #abort}
 * lets the ranks run and removes what was written.
 */
public final class UnitCheckpoints {
    /**
     * Whose they are, and where they go.
     *
     * @param unit   its number in images
     * @param host   its name, for people
     * @param own    where the host has its parts for itself; empty: they are in the checkpoint's directory
     * @param shared then, a directory that all hosts share; it need not be there yet
     */
    public record Place(int unit, String host, Optional<HostParts> own, Optional<Path> shared) {
        /** Where files are the same for all units. @param checkpoint its directory */
        private FilePlace files(Path checkpoint) throws IOException {
            Path at = shared.orElse(checkpoint);
            while (Files.notExists(at) && at.getParent() != null) {
                at = at.getParent();
            }
            return FilePlace.of(at);
        }
    }

    private final Job job;
    private final Place place;
    private final WriterOptions options;
    private final HotFiles hot = new HotFiles();
    private final TimedCalls calls = new TimedCalls();
    private final RunStatistics statistics = new RunStatistics();
    private final FileNumbers files = new FileNumbers();
    private final Stopwatch watch = new Stopwatch(message -> {});
    private volatile PartOrder order;
    private WriteMeter meter;
    private PartWriter part;
    private QuiesceSession session;
    private volatile NodeSnapshot snapshot;
    private boolean last;
    /** Snapshot of a last checkpoint whose part is durable: its ranks stand still. Guarded by this. */
    private NodeSnapshot standing;
    /** The job has been ended. Guarded by this. */
    private boolean over;
    private long traffic;
    private PageHistory pages;
    /** Of processes in the part that is being written, by those that the job has for them. */
    private Map<Long, Integer> numbers = Map.of();
    private boolean hugePages;
    private volatile Phase phase;
    private volatile LiveWrite live;
    private volatile Runnable committed = () -> {};

    /**
     * @param options of its images, as the lead has them
     */
    public UnitCheckpoints(Job job, Place place, WriterOptions options) {
        this.job = job;
        this.place = place;
        this.options = options;
        Tracking.start(job);
    }

    /** Whether a checkpoint is under way here. */
    public boolean busy() {
        return phase != null;
    }

    /** "running", or the phase that is under way. */
    public String state() {
        Phase now = phase;
        return now == null ? "running" : now.name().toLowerCase(java.util.Locale.ROOT);
    }

    /** How far the unit's part is that is being written, until it is known whether it belongs to a checkpoint. */
    public Optional<UnitWrite> writing() {
        return Optional.ofNullable(live).map(write -> new UnitWrite(order.checkpoint(), write.progress()));
    }

    /** Statistics of this unit's incarnation. */
    public RunStatistics statistics() {
        return statistics;
    }

    /**
     * The gates are closed. What is wrong with the image's directory is known before.
     *
     * @return how many processes use a GPU
     */
    public int suspend(UnitOrder asked) throws IOException {
        if (!job.filling().filled().isDone() || job.filling().filled().isCompletedExceptionally()) {
            throw new Failure(ExitCode.BUSY, Durations.bytes(job.filling().missing()) + " of " + place.host()
                    + "'s memory are still being read from the checkpoint that it was restarted from");
        }
        phase = Phase.SUSPEND;
        order = asked.part();
        last = asked.stop().last();
        meter = new WriteMeter();
        WriterOptions metered = options.withMeter(meter);
        part = place.own().isPresent()
                ? PartWriter.open(order, place.own().get(), place.unit(), place.host(), metered, pages)
                : PartWriter.open(order, place.unit(), place.host(), metered, pages);
        session = new QuiesceSession(job, hot, calls,
                asked.stop().detachDebuggers() ? Tracers.detached(Messages::warn) : Tracers.refused());
        watch.start();
        session.suspend();
        watch.ended(Phase.SUSPEND);
        return session.usingGpus();
    }

    /** What these ranks have sent has arrived. */
    public void settle() {
        phase = Phase.DRAIN;
        watch.waited();
        session.settle();
        watch.ended(Phase.DRAIN);
    }

    /** From here on PMI must be silent, or there is no copy. */
    public void quiet() {
        traffic = job.pmi().traffic();
    }

    /** All ranks of the job have settled: copies are made. @throws Failure 75 when it may succeed another time */
    public void snapshot() throws IOException {
        watch.waited();
        boolean drained = session.drain();
        watch.ended(Phase.DRAIN);
        phase = Phase.SNAPSHOT;
        if (!drained) {
            throw new Failure(ExitCode.BUSY, "a process was opening its first verbs device");
        }
        try {
            snapshot = session.snapshot(traffic, true);
        } catch (CaptureFailed e) {
            throw new Failure(ExitCode.BUSY, e.getMessage(), e);
        }
        watch.ended(Phase.SNAPSHOT);
        if (snapshot == null) {
            throw new Failure(ExitCode.BUSY, "ranks were in MPI_Init or MPI_Finalize");
        }
    }

    /** The ranks run; of a last checkpoint they stand still. */
    public void resume() {
        phase = Phase.RESUME;
        watch.endOfWaits();
        if (last) {
            snapshot = snapshot.standing(session);
        } else {
            snapshot.capture().resume();
            watch.ended(Phase.RESUME);
            Map<Integer, Long> waited = session.resume();
            waited.forEach((rank, time) -> watch.record(Phase.RESUME, rank, time));
            watch.lap();
        }
        snapshot = snapshot.withTimes(watch.times());
        statistics.stopped(StopTimes.ofRanks(snapshot.times()));
        snapshot.capture().closedConnections()
                .forEach(connection -> Messages.warn(connection + ": closed in the image"));
        snapshot.capture().notes().forEach(Messages::warn);
        session = null;
    }

    /** The part is durable. */
    public PartReport write() throws IOException {
        phase = Phase.WRITE;
        List<RankRow> ranks = snapshot.ranks(job.facts().launch());
        ImageProcesses processes = new ImageProcesses(order.directory().getFileName().toString(),
                snapshot.capture().image().processes(), ranks);
        LiveWrite write = new LiveWrite(meter, processes, snapshot.capture().sources());
        live = write;
        NodeImage image = NodeImage.begin(part.node(), snapshot, ranks, files, write);
        image.writeAgent(place.files(order.directory()));
        image.finish();
        numbers = image.numbers();
        hugePages = HugePages.in(snapshot.capture().image().regions().stream().map(Region::vmFlags));
        part.statistics(snapshot.times());
        PartReport report = part.finish();
        NodeSnapshot written = snapshot;
        snapshot = null;
        if (last) {
            stand(written);
        } else {
            written.close();
        }
        return report;
    }

    /** Until {@link #end}, which may have come meanwhile, or {@link #abort}. */
    private void stand(NodeSnapshot written) {
        synchronized (this) {
            if (!over) {
                standing = written;
                return;
            }
        }
        written.close(); // what is killed goes nowhere
    }

    /** The job ends: ranks that stand still have been killed, and nobody holds them any more. From any thread. */
    public void end() {
        NodeSnapshot written;
        synchronized (this) {
            over = true;
            written = standing;
            standing = null;
        }
        if (written != null) {
            written.end();
            written.close();
        }
    }

    /** The part belongs to a checkpoint. */
    public void commit() throws IOException {
        pages = part.pages();
        Tracking.committed(job, order.checkpoint(), numbers, pages);
        statistics.complete(meter);
        part.close();
        part = null;
        phase = null;
        live = null;
        if (hugePages) {
            committed.run();
        }
    }

    /** Sets the action that is run after each commit of what may have had huge pages. */
    public void onCommitted(Runnable action) {
        committed = action;
    }

    /** A write that is under way fails soon: its snapshots go away. From any thread. */
    public void cancel() {
        NodeSnapshot now = snapshot;
        if (now != null && phase == Phase.WRITE) {
            now.close();
        }
    }

    /** There is no checkpoint: the ranks run, nothing is left. */
    public void abort() throws IOException {
        NodeSnapshot written;
        synchronized (this) {
            written = standing;
            standing = null;
        }
        try {
            if (snapshot != null) {
                snapshot.close(); // its processes may still stand
            }
            if (written != null) {
                written.close();
            }
        } finally {
            snapshot = null;
            phase = null;
            live = null;
            if (session != null) {
                session.close();
                session = null;
            }
        }
        if (part != null) {
            PartWriter failed = part;
            part = null;
            try {
                failed.close(); // its files go with the checkpoint's directory, where that is the lead's
            } catch (ImageError e) {
                Messages.debugTrace("closing the part of a checkpoint that is not to be", e);
            }
            if (place.own().isPresent()) {
                failed.remove();
            }
        }
    }
}
