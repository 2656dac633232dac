package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.udckpt.agent.command.CommandServer.Progress;
import org.udckpt.image.write.Phase;
import org.udckpt.lifecycle.metrics.JobCounters;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.report.WriteProgress;

/**
 * Takes a job's checkpoints, one at a time: cleaning, attempts, listeners and statistics, whatever the {@link
 * CheckpointMethod}. A checkpoint that fails is reported and removed; the job goes on.
 */
@SuppressWarnings("try") // close() waits for what is under way, and whoever closes may be interrupted
public final class CheckpointQueue implements Checkpoints, AutoCloseable {
    private static final int ATTEMPTS = 4;
    private static final long FINISH_MINUTES = 30;
    private static final long PROGRESS_MS = 200;

    private final String job;
    private final Settings settings;
    private final Path directory;
    private final CheckpointMethod method;
    private final Runnable kept;
    private final Semaphore one = new Semaphore(1);
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile Consumer<Taken> listener = taken -> {};
    /** Guarded by {@link #one}. */
    private boolean cleaned;

    /**
     * @param job       its name
     * @param directory of all its checkpoints
     * @param kept      run after each complete checkpoint, before the next can begin; does not throw
     */
    public CheckpointQueue(String job, Settings settings, Path directory, CheckpointMethod method, Runnable kept) {
        this.job = job;
        this.settings = settings;
        this.directory = directory;
        this.method = method;
        this.kept = kept;
    }

    @Override
    public boolean possible() {
        return method.possible();
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
        Phase now = method.phase();
        return now == null ? "running" : now.name().toLowerCase(Locale.ROOT);
    }

    /** How much of the image has been written; empty while none is being written. */
    public Optional<WriteProgress> writing() {
        return method.writing();
    }

    /** Statistics of all checkpoints of this run of the job. */
    public RunStatistics statistics() {
        return method.statistics();
    }

    @Override
    public String take(Progress progress, boolean wait, boolean detachDebuggers) {
        return take(progress, wait, null, new StopOptions(false, detachDebuggers));
    }

    @Override
    public String takeLast(Progress progress, Runnable end, boolean detachDebuggers) {
        return take(progress, true, end, new StopOptions(true, detachDebuggers));
    }

    /** @param end null: the job goes on */
    private String take(Progress progress, boolean wait, Runnable end, StopOptions stop) {
        if (!one.tryAcquire()) {
            throw new Failure(ExitCode.BUSY, "a checkpoint of job " + job + " is in progress (" + state()
                    + "): try again when it is done");
        }
        boolean handedOver = false;
        try {
            cleanOnce();
            method.awaitReady(progress);
            if (wait) {
                return takeWhole(progress, end, stop);
            }
            CheckpointAttempt attempt = method.begin(progress, stop);
            handedOver = true;
            finishInBackground(attempt, progress);
            return attempt.id();
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw failure("checkpoint of job " + job, e);
        } finally {
            if (!handedOver) {
                done();
            }
        }
    }

    private String takeWhole(Progress progress, Runnable end, StopOptions stop)
            throws IOException, InterruptedException {
        for (int number = 1;; number++) {
            try {
                return finish(method.begin(progress, stop), progress, end);
            } catch (IOException | RuntimeException failed) {
                if (number == ATTEMPTS || !method.retryable(failed)) {
                    throw failed;
                }
                progress.say(failed.getMessage() + "; trying again");
            }
        }
    }

    private void finishInBackground(CheckpointAttempt attempt, Progress progress) throws IOException {
        try {
            Thread.ofPlatform().name("checkpoint-end").start(() -> finishAlone(attempt, progress));
        } catch (OutOfMemoryError none) {
            attempt.abandon().thenRun(this::done);
            throw new IOException("cannot start a thread to write it: " + none.getMessage(), none);
        }
    }

    private void finishAlone(CheckpointAttempt attempt, Progress progress) {
        try {
            finish(attempt, progress, null);
        } catch (IOException | InterruptedException | RuntimeException e) {
            Failure failure = failure("checkpoint " + attempt.id() + " of job " + job, e);
            Messages.error(failure.getMessage(), failure);
        } finally {
            done();
        }
    }

    private String finish(CheckpointAttempt attempt, Progress progress, Runnable end)
            throws IOException, InterruptedException {
        CompleteCheckpoint complete;
        try (attempt;
                PeriodicTask _ = PeriodicTask.start(PROGRESS_MS, () -> method.writing().ifPresent(progress::writing))) {
            complete = attempt.write(end);
        }
        JobCounters.ofThisProcess()
                .taken(complete.manifest(), complete.times(), complete.stops(), complete.cost().write());
        listener.accept(new Taken(attempt.id(), complete.begin(), complete.cost()));
        progress.say(complete.summary());
        kept.run();
        return attempt.id();
    }

    private void done() {
        method.idle();
        one.release();
    }

    /** Says what became of the job, which is the first thing that its user asks. */
    private Failure failure(String what, Exception cause) {
        if (cause instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        JobCounters.ofThisProcess().failed();
        Failure failure = Failure.of(what, cause);
        return possible() ? new Failure(failure.code(), failure.getMessage() + "; the job goes on", failure) : failure;
    }

    /** What earlier agents of this job left incomplete. */
    private void cleanOnce() throws IOException {
        if (!cleaned) {
            ImageChain.clean(settings, directory);
            cleaned = true;
        }
    }

    /** To be called when the job has ended. Waits for the image that is being written. */
    @Override
    public void close() throws InterruptedException {
        method.jobEnded();
        if (closed.compareAndSet(false, true) && !one.tryAcquire(FINISH_MINUTES, TimeUnit.MINUTES)) {
            Messages.error("the last checkpoint was still being written after " + FINISH_MINUTES
                    + " minutes; it is abandoned", null);
        }
        method.close();
    }
}
