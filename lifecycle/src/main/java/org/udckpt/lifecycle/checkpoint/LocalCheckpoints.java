package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.udckpt.agent.Job;
import org.udckpt.agent.command.CommandServer.Progress;
import org.udckpt.image.Manifest;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.StopTimes;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.lifecycle.interval.CheckpointCost;
import org.udckpt.lifecycle.interval.SlowdownMeter;
import org.udckpt.process.capture.TimedCalls;
import org.udckpt.process.files.FileTorn;
import org.udckpt.process.files.HotFiles;
import org.udckpt.process.huge.HugePages;
import org.udckpt.process.model.Region;
import org.udckpt.process.restore.lazy.Filling;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.report.WriteProgress;

/** How the only agent of a job takes a checkpoint: {@link StopPhase}, then {@link ImageWrite} beside the job. */
public final class LocalCheckpoints implements CheckpointMethod {
    private static final long MEMORY_SECONDS = 60;

    private final Job job;
    private final ImageChain chain;
    private final SlowdownMeter slowdown;
    private final RunStatistics statistics = new RunStatistics();
    private final HotFiles hot = new HotFiles();
    private final TimedCalls calls = new TimedCalls();
    private volatile boolean hugePages;
    private volatile Phase phase;
    private volatile LiveWrite live;

    /**
     * @param options of its images
     * @param destination where its checkpoints go
     */
    public LocalCheckpoints(Job job, WriterOptions options, CheckpointDestination destination) {
        this.job = job;
        this.chain = new ImageChain(job.settings(), job.imageDirectory(), options, destination.beforeNumber(),
                destination.damage());
        Tracking.start(job);
        this.slowdown = new SlowdownMeter(job::sends, System::nanoTime);
    }

    /** Whether the last snapshot may have split huge pages. */
    public boolean splitsHugePages() {
        return hugePages;
    }

    @Override
    public boolean possible() {
        return job.ranks().allAlive() && !job.ranks().ending();
    }

    @Override
    public Phase phase() {
        return phase;
    }

    @Override
    public Optional<WriteProgress> writing() {
        return Optional.ofNullable(live).map(LiveWrite::progress);
    }

    @Override
    public RunStatistics statistics() {
        return statistics;
    }

    /** Waits for lazily restored memory: pages that are still in the older image only would be missing in this one. */
    @Override
    public void awaitReady(Progress progress) throws InterruptedException {
        Filling filling = job.filling();
        if (!filling.filled().isDone()) {
            progress.say("waiting for " + Durations.bytes(filling.missing()) + " of the restarted job's memory");
        }
        try {
            filling.filled().get(MEMORY_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException late) {
            throw new Failure(ExitCode.BUSY, Durations.bytes(filling.missing())
                    + " of its memory are still being read from the checkpoint that it was restarted from: try again "
                    + "later");
        } catch (ExecutionException damaged) {
            throw new Failure(ExitCode.BUSY, "the job is being ended: its memory could not be read from the "
                    + "checkpoint that it was restarted from", damaged);
        }
    }

    @Override
    public CheckpointAttempt begin(Progress progress, StopOptions stop) throws IOException, InterruptedException {
        ImageWrite image = new ImageWrite(job.facts(), chain);
        try {
            slowdown.stops();
            return new Attempt(image, new StopPhase(job, progress, now -> phase = now, hot, calls, stop).make());
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            remove(image);
            throw e;
        }
    }

    /** A file that was written over while it was being saved is copied in the stop of the next attempt. */
    @Override
    public boolean retryable(Exception failure) {
        boolean retryable = failure instanceof FileTorn torn && torn.savedInNextStop();
        if (retryable) {
            slowdown.runsFreely();
        }
        return retryable;
    }

    @Override
    public void idle() {
        phase = null;
        live = null;
        slowdown.runsFreely();
    }

    /** Its copy has been made: the image can be written without it. */
    @Override
    public void jobEnded() {}

    @Override
    public void close() {
        chain.close();
    }

    private static void remove(ImageWrite image) {
        try {
            image.close();
        } catch (IOException e) {
            Messages.error("could not remove the failed checkpoint " + image.id() + ": " + e.getMessage(), e);
        }
    }

    private final class Attempt implements CheckpointAttempt {
        private final ImageWrite image;
        private final NodeSnapshot snapshot;
        private final List<Long> stops;

        Attempt(ImageWrite image, NodeSnapshot snapshot) {
            this.image = image;
            this.snapshot = snapshot;
            this.stops = StopTimes.ofRanks(snapshot.times());
        }

        @Override
        public String id() {
            return image.id();
        }

        @Override
        public CompleteCheckpoint write(Runnable end) throws IOException {
            phase = Phase.WRITE;
            long resumed = System.nanoTime();
            if (end == null) {
                slowdown.resumes();
            }
            statistics.stopped(stops);
            LiveWrite write = image.live(snapshot);
            live = write;
            Manifest manifest = image.write(snapshot, write, statistics.row());
            Tracking.committed(job, manifest.id(), image.numbers(), image.pages());
            hugePages = HugePages.in(snapshot.capture().image().regions().stream().map(Region::vmFlags));
            if (end != null) {
                try {
                    end.run();
                } finally {
                    snapshot.end();
                }
            }
            statistics.complete(write.meter());
            OptionalDouble slower = end == null ? slowdown.written() : OptionalDouble.empty();
            CheckpointCost cost = CheckpointCost.of(manifest.stopMaxNanos(), System.nanoTime() - resumed, slower);
            return new CompleteCheckpoint(manifest, resumed - manifest.stopMaxNanos(), snapshot.times(), stops, cost,
                    summary(manifest, cost));
        }

        private static String summary(Manifest manifest, CheckpointCost cost) {
            return "write " + Durations.format(manifest.writeNanos()) + ", " + Durations.bytes(manifest.storedBytes())
                    + "; stop "
                    + Durations.format(manifest.stopMaxNanos()) + (cost.measured()
                            ? "; the job was %.0f%% slower".formatted(cost.slowdown() * 100) + " meanwhile" : "");
        }

        @Override
        public CompletableFuture<Void> abandon() {
            close();
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void close() {
            try {
                snapshot.close();
            } finally {
                remove(image);
            }
        }
    }
}
