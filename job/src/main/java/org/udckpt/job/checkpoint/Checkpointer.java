package org.udckpt.job.checkpoint;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.udckpt.image.Manifest;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.StopTimes;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.job.agent.Job;
import org.udckpt.job.command.CommandServer.Progress;
import org.udckpt.job.metrics.Tally;
import org.udckpt.job.pace.CheckpointCost;
import org.udckpt.job.pace.SlowdownMeter;
import org.udckpt.job.report.Durations;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.report.WriteProgress;
import org.udckpt.job.store.Damage;
import org.udckpt.process.capture.TimedCalls;
import org.udckpt.process.files.FileTorn;
import org.udckpt.process.files.HotFiles;
import org.udckpt.process.restore.lazy.Filling;

/** Takes a job's checkpoints, one at a time. A checkpoint that fails is reported and cleaned away; the job goes on. */
@SuppressWarnings("try") // close() waits for what is under way, and whoever closes may be interrupted
public final class Checkpointer implements Checkpoints, AutoCloseable {
    private static final long FINISH_MINUTES = 30;
    private static final long PROGRESS_MS = 200;
    private static final long MEMORY_SECONDS = 60;
    private static final int ATTEMPTS = 4;

    private final Job job;
    private final Semaphore one = new Semaphore(1);
    private final ImageChain chain;
    private final Runnable kept;
    private final SlowdownMeter slowdown;
    private volatile Consumer<Taken> listener = taken -> { };
    private final LifeStatistics statistics = new LifeStatistics();
    private final HotFiles hot = new HotFiles();
    private final TimedCalls calls = new TimedCalls();
    private volatile Phase phase;
    private volatile LiveWrite live;
    private volatile boolean cleaned;

    /** What happens before a checkpoint gets its number. */
    @FunctionalInterface
    public interface BeforeNumber {
        /** When it throws, there is no checkpoint; the job has not been stopped. */
        void run() throws IOException;
    }

    /**
     * @param options of its images
     * @param damage what was found to be wrong with those that are there
     * @param kept run after each checkpoint that is complete, before the next can begin; does not throw
     */
    public Checkpointer(Job job, WriterOptions options, BeforeNumber beforeNumber, Damage damage, Runnable kept) {
        this.job = job;
        this.kept = kept;
        this.chain = new ImageChain(job.settings(), job.imageDirectory(), options, beforeNumber, damage);
        this.slowdown = new SlowdownMeter(job::sends, System::nanoTime);
    }

    @Override
    public boolean possible() {
        return job.ranks().allAlive() && !job.ranks().ending();
    }

    @Override
    public boolean busy() {
        return one.availablePermits() == 0;
    }

    @Override
    public void onTaken(Consumer<Taken> consumer) {
        listener = consumer;
    }

    /** "running", or the phase of the checkpoint under way. */
    public String state() {
        Phase now = phase;
        return now == null ? "running" : now.name().toLowerCase(Locale.ROOT);
    }

    /** How far the image is that is being written; empty when none is. */
    public Optional<WriteProgress> writing() {
        return Optional.ofNullable(live).map(LiveWrite::progress);
    }

    /** Of all checkpoints of this life. */
    public LifeStatistics statistics() {
        return statistics;
    }

    @Override
    public String take(Progress progress, boolean wait) {
        return take(progress, wait, null);
    }

    @Override
    public String takeLast(Progress progress, Runnable end) {
        return take(progress, true, end);
    }

    /** @param end null: the job goes on */
    private String take(Progress progress, boolean wait, Runnable end) {
        if (!one.tryAcquire()) {
            throw new Failure(ExitCode.BUSY, "a checkpoint of job " + job.facts().name() + " is under way (" + state() + "): try again when it is done");
        }
        boolean handedOver = false;
        try {
            cleanOnce();
            awaitMemory(progress);
            if (wait) {
                return takeWhole(progress, end);
            }
            ImageWrite image = new ImageWrite(job.facts(), chain);
            finishBeside(image, stop(image, progress, false), progress);
            handedOver = true;
            return image.id();
        } catch (IOException | InterruptedException | RuntimeException e) {
            Tally.ofThisProcess().failed();
            throw failure("checkpoint of job " + job.facts().name(), e);
        } finally {
            if (!handedOver) {
                done();
            }
        }
    }

    /** A file that is written over while it is being saved is copied in the stop of the next attempt. */
    private String takeWhole(Progress progress, Runnable end) throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            ImageWrite image = new ImageWrite(job.facts(), chain);
            Frozen frozen = stop(image, progress, end != null);
            try {
                return finish(image, frozen, progress, end);
            } catch (FileTorn torn) {
                if (attempt == ATTEMPTS || !torn.savedInNextStop()) {
                    throw torn;
                }
                progress.say(torn.getMessage() + ": once more, with it in the stop");
                slowdown.runsFreely();
            }
        }
    }

    /** Gives {@code image} up when it throws. */
    private Frozen stop(ImageWrite image, Progress progress, boolean last) throws IOException, InterruptedException {
        try {
            slowdown.stops();
            return new Stop(job, progress, now -> phase = now, hot, calls, last).make();
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            abandon(image);
            throw e;
        }
    }

    /** In a thread of its own. Where none can be had, nothing is left behind. */
    private void finishBeside(ImageWrite image, Frozen frozen, Progress progress) throws IOException {
        try {
            Thread.ofPlatform().name("checkpoint-writer").start(() -> finishAlone(image, frozen, progress));
        } catch (OutOfMemoryError none) {
            try (image; frozen) {
                throw new IOException("no thread can be had to write it: " + none.getMessage(), none);
            }
        }
    }

    /** Of a job that was restarted a moment ago: what is still in the older image would be missing in this one. */
    private void awaitMemory(Progress progress) throws InterruptedException {
        Filling filling = job.filling();
        if (!filling.filled().isDone()) {
            progress.say("waiting for " + Durations.bytes(filling.missing()) + " of the restarted job's memory");
        }
        try {
            filling.filled().get(MEMORY_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException late) {
            throw new Failure(ExitCode.BUSY, Durations.bytes(filling.missing()) + " of its memory are still being read from the checkpoint from which it was restarted: try again later");
        } catch (ExecutionException damaged) {
            throw new Failure(ExitCode.BUSY, "it is being ended: its memory could not be read from the checkpoint from which it was restarted", damaged);
        }
    }

    private void done() {
        phase = null;
        live = null;
        slowdown.runsFreely();
        one.release();
    }

    private static void abandon(ImageWrite image) {
        try {
            image.close();
        } catch (IOException e) {
            Messages.error("could not remove the failed checkpoint " + image.id() + ": " + e.getMessage(), e);
        }
    }

    private String finish(ImageWrite image, Frozen frozen, Progress progress, Runnable end) throws IOException {
        phase = Phase.WRITE;
        long resumed = System.nanoTime();
        List<Long> stops = StopTimes.ofRanks(frozen.times());
        Manifest manifest;
        try (image; frozen) {
            if (end == null) {
                slowdown.resumes();
            }
            statistics.stopped(stops);
            LiveWrite write = image.live(frozen);
            live = write;
            try (Ticker _ = Ticker.start(PROGRESS_MS, () -> progress.writing(write.progress()))) {
                manifest = image.write(frozen, write, statistics.row());
            }
            if (end != null) {
                try {
                    end.run();
                } finally {
                    frozen.end();
                }
            }
            statistics.complete(write.meter());
        }
        Tally.ofThisProcess().taken(manifest, frozen.times(), stops, System.nanoTime() - resumed);
        CheckpointCost cost = CheckpointCost.of(manifest.stopMaxNanos(), System.nanoTime() - resumed, end == null ? slowdown.written() : OptionalDouble.empty());
        listener.accept(new Taken(image.id(), resumed - manifest.stopMaxNanos(), cost));
        progress.say("write " + Durations.format(manifest.writeNanos()) + ", " + Durations.bytes(manifest.storedBytes()) + "; stop "
                + Durations.format(manifest.stopMaxNanos()) + (cost.measured() ? "; the job was %.0f%% slower".formatted(cost.slowdown() * 100) + " meanwhile" : ""));
        kept.run();
        return image.id();
    }

    private void finishAlone(ImageWrite image, Frozen frozen, Progress progress) {
        try {
            finish(image, frozen, progress, null);
        } catch (IOException | RuntimeException e) {
            Tally.ofThisProcess().failed();
            Failure failure = failure("checkpoint " + image.id() + " of job " + job.facts().name(), e);
            Messages.error(failure.getMessage(), failure);
        } finally {
            done();
        }
    }

    /** Says what became of the job, which is the first thing that its user asks. */
    private Failure failure(String what, Exception cause) {
        Failure failure = Failure.of(what, cause);
        return possible()
                ? new Failure(failure.code(), failure.getMessage() + "; the job goes on", failure) : failure;
    }

    /** What earlier agents of this job left half written. */
    private void cleanOnce() throws IOException {
        if (!cleaned) {
            ImageChain.clean(job.settings(), job.imageDirectory());
            cleaned = true;
        }
    }

    /** Waits for the image that is being written: the job may be over, its last checkpoint is not. */
    @Override
    public void close() throws InterruptedException {
        if (!one.tryAcquire(FINISH_MINUTES, TimeUnit.MINUTES)) {
            Messages.error("the last checkpoint was still being written after " + FINISH_MINUTES + " minutes; it is given up", null);
        }
        chain.close();
    }
}
