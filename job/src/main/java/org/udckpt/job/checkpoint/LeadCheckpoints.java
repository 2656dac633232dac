package org.udckpt.job.checkpoint;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.udckpt.image.Manifest;
import org.udckpt.image.manifest.PartReport;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.PartOrder;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.WriteMeter;
import org.udckpt.job.command.CommandServer.Progress;
import org.udckpt.job.config.Settings;
import org.udckpt.job.coordinator.Op;
import org.udckpt.job.coordinator.Outcome;
import org.udckpt.job.metrics.Tally;
import org.udckpt.job.pace.CheckpointCost;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.report.WriteProgress;
import org.udckpt.job.store.CallRow;
import org.udckpt.job.store.ImageOptions;
import org.udckpt.job.store.StopTimesRow;

/**
 * Takes the checkpoints of a job of several nodes: the lead's half, which owns the image's directory and its manifest. The nodes' halves are
 * {@link UnitCheckpoints}; between them is the coordinator ({@link Agreement}, docs/internals/coordination.md), whose words come in by {@link #called}, {@link #commit} and
 * {@link #ended}.
 */
public final class LeadCheckpoints implements Checkpoints, AutoCloseable {
    private static final int ATTEMPTS = 40;
    private static final int TORN_ATTEMPTS = 4;
    private static final long PAUSE_MS = 100, LONGEST_PAUSE_MS = 2000;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60); // a restarted job's memory may still come in
    private static final long FINISH_MINUTES = 30;
    private static final long PROGRESS_MS = 200;

    /** What the lead itself writes. */
    @FunctionalInterface
    public interface JobTables {
        /** All of the job's own tables. @param stops of the job's life until now */
        void write(CheckpointWriter writer, StopTimesRow stops) throws IOException;
    }

    private final String job;
    private final List<String> hosts;
    private final int ranks;
    private final Map<String, String> labels;
    private final Settings settings;
    private final Keeping keeping;
    private final ImageChain chain;
    private final Agreement agreement;
    private final JobTables tables;
    private final Semaphore one = new Semaphore(1);
    private final LifeStatistics statistics = new LifeStatistics();
    private volatile Consumer<Taken> listener = taken -> { };
    private volatile LeadAttempt now;
    private volatile CallRow committed;
    private volatile Phase phase;
    private volatile String impossible;
    /** The coordinator has gone: nobody tells of the end of an attempt that it has not heard of. */
    private volatile boolean alone;
    private boolean cleaned;
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * @param job       its name
     * @param hosts     of its units, by number
     * @param ranks     in all units
     * @param labels    of its images
     * @param keeping   of its checkpoints
     */
    public LeadCheckpoints(String job, List<String> hosts, int ranks, Map<String, String> labels, Settings settings, Keeping keeping, Agreement agreement, JobTables tables) {
        this.job = job;
        this.hosts = List.copyOf(hosts);
        this.ranks = ranks;
        this.labels = labels;
        this.settings = settings;
        this.keeping = keeping;
        this.chain = new ImageChain(settings, keeping.directory(), ImageOptions.of(settings), keeping.beforeNumber(), keeping.damage());
        this.agreement = agreement;
        this.tables = tables;
    }

    @Override
    public boolean busy() {
        return one.availablePermits() == 0;
    }

    @Override
    public boolean possible() {
        return impossible == null;
    }

    /** There can be none any more. @param why for who asks for one */
    public void impossible(String why) {
        impossible = why;
    }

    @Override
    public void onTaken(Consumer<Taken> consumer) {
        listener = consumer;
    }

    /** Whether all ranks run again, and the image of a checkpoint is being written. */
    public boolean writing() {
        Phase reached = phase;
        return reached == Phase.WRITE || reached == Phase.COMMIT;
    }

    /** How far the image is that the nodes write; empty when they write none, and until each has said how much it has. */
    public Optional<WriteProgress> progress() {
        return Optional.ofNullable(now).flatMap(this::writing);
    }

    private Optional<WriteProgress> writing(LeadAttempt attempt) {
        return attempt.isResumed() ? agreement.written(attempt.writer.id()).map(all -> all.after(System.nanoTime() - attempt.resumed.join())) : Optional.empty();
    }

    /** "running", or the phase of the checkpoint under way. */
    public String state() {
        Phase reached = phase;
        return reached == null ? "running" : reached.name().toLowerCase(Locale.ROOT);
    }

    /** Of all checkpoints of this life. */
    public LifeStatistics statistics() {
        return statistics;
    }

    /** What it took to tell all nodes that the last checkpoint is complete; null: there was none in this life. */
    public CallRow committed() {
        return committed;
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
            throw new Failure(ExitCode.BUSY, "a checkpoint of job " + job + " is under way (" + state() + "): try again when it is done");
        }
        boolean handedOver = false;
        try {
            cleanOnce();
            if (wait) {
                return takeWhole(progress, end);
            }
            LeadAttempt attempt = resumed(progress, false);
            handedOver = true;
            finishBeside(attempt);
            return attempt.writer.name();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure(Failure.of("checkpoint of job " + job, e));
        } catch (IOException | RuntimeException e) {
            throw failure(Failure.of("checkpoint of job " + job, e));
        } finally {
            if (!handedOver) {
                done();
            }
        }
    }

    /** A file that is written over while it is being saved is copied in the stop of the next attempt. */
    private String takeWhole(Progress progress, Runnable end) throws InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return finish(resumed(progress, end != null), end);
            } catch (Failure failed) {
                if (failed.code() != ExitCode.BUSY || attempt == TORN_ATTEMPTS || !possible()) {
                    throw failed;
                }
                progress.say(failed.getMessage() + ": once more");
            }
        }
    }

    /** In a thread of its own. Where none can be had, the checkpoint is thrown away when its nodes have written it. */
    private void finishBeside(LeadAttempt attempt) throws IOException {
        try {
            Thread.ofPlatform().name("checkpoint-end").start(() -> finishAlone(attempt));
        } catch (OutOfMemoryError none) {
            attempt.unwanted = true;
            attempt.ended.thenRun(() -> {
                close(attempt);
                done();
            });
            throw new IOException("no thread can be had to write it: " + none.getMessage(), none);
        }
    }

    /** What earlier leads of this job left half written. */
    private void cleanOnce() throws IOException {
        if (!cleaned) {
            ImageChain.clean(settings, keeping.directory());
            cleaned = true;
        }
    }

    private Failure failure(Failure cause) {
        Tally.ofThisProcess().failed();
        return possible() ? new Failure(cause.code(), cause.getMessage() + "; the job goes on", cause) : cause;
    }

    /** Returns when all ranks run again, or stand for good. What may succeed another time is tried again. */
    private LeadAttempt resumed(Progress progress, boolean last) throws InterruptedException {
        long giveUp = System.nanoTime() + PATIENCE_NS;
        for (int number = 1; ; number++) {
            if (impossible != null) {
                throw new Failure(ExitCode.BUSY, "a checkpoint of job " + job + ": " + impossible);
            }
            LeadAttempt attempt = new LeadAttempt(chain.begin(new WriteMeter()), progress, hosts);
            now = attempt;
            agreement.checkpoint(attempt.writer.id(), new UnitOrder(order(attempt), last).encode());
            endIfAlone(attempt);
            try {
                attempt.resumed.get();
                attempt.tellStop();
                return attempt;
            } catch (ExecutionException failed) {
                close(attempt);
                Failure failure = Failure.of("checkpoint " + attempt.writer.name() + " of job " + job, failed.getCause());
                if (failure.code() != ExitCode.BUSY || number == ATTEMPTS || System.nanoTime() > giveUp) {
                    throw failure;
                }
                Messages.debugTrace("the job is suspended anew", failure);
                Thread.sleep(Math.min(LONGEST_PAUSE_MS, number * PAUSE_MS));
            }
        }
    }

    private PartOrder order(LeadAttempt attempt) {
        if (keeping.parts().isEmpty()) {
            return attempt.writer.order(hosts.size());
        }
        try {
            return attempt.writer.order(hosts.size(), keeping.parts().get());
        } catch (IOException e) {
            close(attempt);
            throw Failure.of("beginning " + attempt.writer.directory(), e);
        }
    }

    /** @param end run when it is durable, whatever fails behind that: the ranks stand still */
    private String finish(LeadAttempt attempt, Runnable end) throws InterruptedException {
        try {
            Outcome outcome = awaitEnd(attempt);
            if (!outcome.committed()) {
                throw failure(attempt, outcome);
            }
            if (end != null) {
                end.run();
            }
            Manifest manifest = attempt.manifest();
            long resumed = attempt.resumed.join();
            chain.complete(attempt.writer);
            statistics.complete();
            Tally.ofThisProcess().taken(manifest, attempt.times(), attempt.stops(), System.nanoTime() - resumed);
            listener.accept(new Taken(attempt.writer.name(), resumed - manifest.stopMaxNanos(), CheckpointCost.of(manifest.stopMaxNanos(), System.nanoTime() - resumed, OptionalDouble.empty())));
            attempt.tellWrite();
            if (outcome.why() != null) {
                Messages.warn("checkpoint " + attempt.writer.name() + " is complete, but " + outcome.why());
            }
            keeping.kept().run();
            return attempt.writer.name();
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible); // it is never completed with a failure
        } finally {
            close(attempt);
        }
    }

    private void finishAlone(LeadAttempt attempt) {
        try {
            finish(attempt, null);
        } catch (RuntimeException | InterruptedException e) {
            Failure failure = failure(Failure.of("checkpoint " + attempt.writer.name() + " of job " + job, e));
            Messages.error(failure.getMessage(), failure);
        } finally {
            done();
        }
    }

    private Outcome awaitEnd(LeadAttempt attempt) throws InterruptedException, ExecutionException {
        try (Ticker _ = Ticker.start(PROGRESS_MS, () -> writing(attempt).ifPresent(attempt.progress::writing))) {
            return attempt.ended.get();
        }
    }

    private void done() {
        phase = null;
        now = null;
        one.release();
    }

    private static void close(LeadAttempt attempt) {
        try {
            attempt.writer.close();
        } catch (IOException e) {
            Messages.error("could not remove the failed checkpoint " + attempt.writer.name() + ": " + e.getMessage(), e);
        }
    }

    /** A node's part is durable. */
    public void report(PartReport report) {
        LeadAttempt attempt = now;
        if (attempt != null) {
            attempt.report(report);
        }
    }

    /** All nodes have done one phase. */
    public void called(Outcome.CallTime call) {
        LeadAttempt attempt = now;
        Op op = call.request().op();
        if (op == Op.COMMIT && call.tally().failure() == null) {
            committed = CallTimes.row(call); // no image can have it: it is complete before
        }
        if (attempt == null || call.request().checkpoint() != attempt.writer.id() || call.tally().failure() != null) {
            return;
        }
        switch (op) {
            case SUSPEND, DRAIN, SNAPSHOT -> {
                phase = Phase.valueOf(op.name());
                attempt.called(call);
            }
            case RESUME -> {
                attempt.called(call);
                phase = Phase.WRITE;
                attempt.resumed.complete(System.nanoTime());
            }
            case WRITE -> attempt.called(call);
            case COMMIT, ABORT, EXCHANGE, FILES, START, CONNECT, OPEN, END -> { }
        }
    }

    /** All parts are durable: writes the manifest, in a thread of its own, and tells. */
    public void commit(long number) {
        LeadAttempt attempt = now;
        CompletableFuture<Void> done = new CompletableFuture<>();
        if (attempt != null) {
            attempt.committing = done;
        }
        Thread.ofPlatform().name("checkpoint-commit").start(() -> {
            try {
                agreement.manifest(number, commit(attempt, number));
            } finally {
                done.complete(null);
            }
        });
    }

    /** Why there is no manifest, or null. The coordinator is told in any case: it waits, and with it the job's end. */
    private String commit(LeadAttempt attempt, long number) {
        if (attempt == null || attempt.writer.id() != number || attempt.unwanted) {
            return "checkpoint " + number + " is not under way";
        }
        phase = Phase.COMMIT;
        try {
            attempt.commit(tables, statistics, ranks, labels);
            return null;
        } catch (IOException | RuntimeException | Error e) {
            Failure failure = Failure.of("the manifest of " + attempt.writer.name(), e);
            Messages.debugTrace("the manifest of " + attempt.writer.name(), failure);
            attempt.failed(failure);
            return failure.getMessage();
        }
    }

    /** The coordinator has done with it. */
    public void ended(Outcome outcome) {
        LeadAttempt attempt = now;
        if (attempt == null || attempt.writer.id() != outcome.checkpoint()) {
            return;
        }
        if (!outcome.committed()) {
            if (attempt.isResumed()) {
                attempt.countStop(statistics);
            }
            attempt.resumed.completeExceptionally(failure(attempt, outcome));
        }
        attempt.ended.complete(outcome);
    }

    /** What the job's end has cut off may be tried again, by who restarts it. */
    private Failure failure(LeadAttempt attempt, Outcome outcome) {
        return attempt.failure(outcome, impossible == null ? ExitCode.IO : ExitCode.BUSY);
    }

    /** The coordinator has ended: a checkpoint that is under way, or begins now, has no other end than this. @param why for who asks for one */
    public void abandon(String why) {
        if (impossible == null) {
            impossible = why;
        }
        alone = true;
        endIfAlone(now);
    }

    /** Behind the manifest, where that is being written. */
    private void endIfAlone(LeadAttempt attempt) {
        if (alone && attempt != null) {
            attempt.committing.thenRun(() -> {
                if (!attempt.ended.isDone()) {
                    boolean complete = attempt.manifest() != null;
                    ended(new Outcome(attempt.writer.id(), complete, complete ? null : ExitCode.BUSY.value() + " " + impossible, List.of()));
                }
            });
        }
    }

    /**
     * To be called when the coordinator has ended. Waits for the image that is being written: the job may be over, its last checkpoint is not.
     */
    @Override
    public void close() throws InterruptedException {
        abandon("the job has ended");
        if (closed.compareAndSet(false, true) && !one.tryAcquire(FINISH_MINUTES, TimeUnit.MINUTES)) {
            Messages.error("the last checkpoint was still being written after " + FINISH_MINUTES + " minutes; it is given up", null);
        }
    }
}
