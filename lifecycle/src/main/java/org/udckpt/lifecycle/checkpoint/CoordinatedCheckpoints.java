package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.udckpt.agent.command.CommandServer.Progress;
import org.udckpt.coordination.protocol.CheckpointOutcome;
import org.udckpt.coordination.protocol.Op;
import org.udckpt.image.Manifest;
import org.udckpt.image.manifest.PartReport;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.PartOrder;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.WriteMeter;
import org.udckpt.lifecycle.interval.CheckpointCost;
import org.udckpt.store.CallRow;
import org.udckpt.store.ImageOptions;
import org.udckpt.store.StopTimesRow;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.report.WriteProgress;

/**
 * How a job of several nodes takes a checkpoint: the lead's half, which owns the image's directory and its manifest.
 * The nodes' halves are {@link UnitCheckpoints}; between them is the coordinator ({@link CoordinatorClient},
 * docs/internals/coordination.md), whose words come in by {@link #called}, {@link #commit} and {@link #ended}.
 */
public final class CoordinatedCheckpoints implements CheckpointMethod {
    private static final int ATTEMPTS = 40;
    private static final long PAUSE_MS = 100, LONGEST_PAUSE_MS = 2000;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60); // a restarted job's memory may still come in

    /** What the lead itself writes. */
    @FunctionalInterface
    public interface JobTables {
        /** All of the job's own tables. @param stops of the job's incarnation until now */
        void write(CheckpointWriter writer, StopTimesRow stops) throws IOException;
    }

    private final String job;
    private final List<String> hosts;
    private final int ranks;
    private final Map<String, String> labels;
    private final CheckpointDestination destination;
    private final ImageChain chain;
    private final CoordinatorClient coordinator;
    private final JobTables tables;
    private final RunStatistics statistics = new RunStatistics();
    private volatile CoordinatedAttempt now;
    private volatile CallRow committed;
    private volatile Phase phase;
    private volatile String impossible;
    /** The coordinator has gone: nobody tells of the end of an attempt that it has not heard of. */
    private volatile boolean alone;

    /**
     * @param job       its name
     * @param hosts     of its units, by number
     * @param ranks     in all units
     * @param labels    of its images
     * @param destination where its checkpoints go
     */
    public CoordinatedCheckpoints(String job, List<String> hosts, int ranks, Map<String, String> labels,
            Settings settings, CheckpointDestination destination, CoordinatorClient coordinator, JobTables tables) {
        this.job = job;
        this.hosts = List.copyOf(hosts);
        this.ranks = ranks;
        this.labels = labels;
        this.destination = destination;
        this.chain = new ImageChain(settings, destination.directory(), ImageOptions.of(settings),
                destination.beforeNumber(), destination.damage());
        this.coordinator = coordinator;
        this.tables = tables;
    }

    @Override
    public boolean possible() {
        return impossible == null;
    }

    /** No checkpoint is possible any more. @param why for callers that ask for one */
    public void impossible(String why) {
        impossible = why;
    }

    @Override
    public Phase phase() {
        return phase;
    }

    /** Whether all ranks run again, and the image of a checkpoint is being written. */
    public boolean isWriting() {
        Phase reached = phase;
        return reached == Phase.WRITE || reached == Phase.COMMIT;
    }

    /** Empty also until each node has said how much it has. */
    @Override
    public Optional<WriteProgress> writing() {
        return Optional.ofNullable(now).flatMap(this::writing);
    }

    private Optional<WriteProgress> writing(CoordinatedAttempt attempt) {
        return attempt.isResumed() ? coordinator.written(attempt.writer.id())
                .map(all -> all.after(System.nanoTime() - attempt.resumed.join())) : Optional.empty();
    }

    @Override
    public RunStatistics statistics() {
        return statistics;
    }

    /**
     * What it took to tell all nodes that the last checkpoint is complete; null: there was none in this incarnation.
     */
    public CallRow committed() {
        return committed;
    }

    /** Each node says itself that it is not ready. */
    @Override
    public void awaitReady(Progress progress) {}

    @Override
    public CheckpointAttempt begin(Progress progress, StopOptions stop) throws InterruptedException {
        return new Attempt(resumed(progress, stop));
    }

    /** A file that was written over while it was being saved is copied in the stop of the next attempt. */
    @Override
    public boolean retryable(Exception failure) {
        return failure instanceof Failure failed && failed.code() == ExitCode.BUSY && possible();
    }

    /** Returns when all ranks run again, or stand for good. What may succeed another time is tried again. */
    private CoordinatedAttempt resumed(Progress progress, StopOptions stop) throws InterruptedException {
        long giveUp = System.nanoTime() + TIMEOUT_NS;
        for (int number = 1;; number++) {
            if (impossible != null) {
                throw new Failure(ExitCode.BUSY, "a checkpoint of job " + job + ": " + impossible);
            }
            CoordinatedAttempt attempt = new CoordinatedAttempt(chain.begin(new WriteMeter()), progress, hosts);
            now = attempt;
            coordinator.checkpoint(attempt.writer.id(), new UnitOrder(order(attempt), stop).encode());
            endIfAlone(attempt);
            try {
                attempt.resumed.get();
                attempt.tellStop();
                return attempt;
            } catch (ExecutionException failed) {
                close(attempt);
                Failure failure =
                        Failure.of("checkpoint " + attempt.writer.name() + " of job " + job, failed.getCause());
                if (failure.code() != ExitCode.BUSY || number == ATTEMPTS || System.nanoTime() > giveUp) {
                    throw failure;
                }
                Messages.debugTrace("the job is suspended anew", failure);
                Thread.sleep(Math.min(LONGEST_PAUSE_MS, number * PAUSE_MS));
            }
        }
    }

    private PartOrder order(CoordinatedAttempt attempt) {
        if (destination.parts().isEmpty()) {
            return attempt.writer.order(hosts.size());
        }
        try {
            return attempt.writer.order(hosts.size(), destination.parts().get());
        } catch (IOException e) {
            close(attempt);
            throw Failure.of("beginning " + attempt.writer.directory(), e);
        }
    }

    private CompleteCheckpoint complete(CoordinatedAttempt attempt, Runnable end) throws InterruptedException {
        CheckpointOutcome outcome;
        try {
            outcome = attempt.ended.get();
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible); // it is never completed with a failure
        }
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
        if (outcome.why() != null) {
            Messages.warn("checkpoint " + attempt.writer.name() + " is complete, but " + outcome.why());
        }
        CheckpointCost cost =
                CheckpointCost.of(manifest.stopMaxNanos(), System.nanoTime() - resumed, OptionalDouble.empty());
        return new CompleteCheckpoint(manifest, resumed - manifest.stopMaxNanos(), attempt.times(), attempt.stops(),
                cost, attempt.summary());
    }

    private final class Attempt implements CheckpointAttempt {
        private final CoordinatedAttempt attempt;

        Attempt(CoordinatedAttempt attempt) {
            this.attempt = attempt;
        }

        @Override
        public String id() {
            return attempt.writer.name();
        }

        @Override
        public CompleteCheckpoint write(Runnable end) throws InterruptedException {
            return complete(attempt, end);
        }

        /** The checkpoint is removed when its nodes have written it. */
        @Override
        public CompletableFuture<Void> abandon() {
            attempt.unwanted = true;
            return attempt.ended.thenRun(this::close);
        }

        @Override
        public void close() {
            CoordinatedCheckpoints.close(attempt);
        }
    }

    @Override
    public void idle() {
        phase = null;
        now = null;
    }

    private static void close(CoordinatedAttempt attempt) {
        try {
            attempt.writer.close();
        } catch (IOException e) {
            Messages.error("could not remove the failed checkpoint " + attempt.writer.name() + ": " + e.getMessage(),
                    e);
        }
    }

    /** A node's part is durable. */
    public void report(PartReport report) {
        CoordinatedAttempt attempt = now;
        if (attempt != null) {
            attempt.report(report);
        }
    }

    /** All nodes have done one phase. */
    public void called(CheckpointOutcome.CallTime call) {
        CoordinatedAttempt attempt = now;
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
            case COMMIT, ABORT, EXCHANGE, FILES, START, CONNECT, OPEN, END -> {
            }
        }
    }

    /** All parts are durable: writes the manifest, in a thread of its own, and tells. */
    public void commit(long number) {
        CoordinatedAttempt attempt = now;
        CompletableFuture<Void> done = new CompletableFuture<>();
        if (attempt != null) {
            attempt.committing = done;
        }
        Thread.ofPlatform().name("checkpoint-commit").start(() -> {
            try {
                coordinator.manifest(number, commit(attempt, number));
            } finally {
                done.complete(null);
            }
        });
    }

    /** Why there is no manifest, or null. The coordinator is told in any case: it waits, and with it the job's end. */
    private String commit(CoordinatedAttempt attempt, long number) {
        if (attempt == null || attempt.writer.id() != number || attempt.unwanted) {
            return "checkpoint " + number + " is not in progress";
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
    public void ended(CheckpointOutcome outcome) {
        CoordinatedAttempt attempt = now;
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

    /** A checkpoint that the job's end has cut off may be tried again after a restart. */
    private Failure failure(CoordinatedAttempt attempt, CheckpointOutcome outcome) {
        return attempt.failure(outcome, impossible == null ? ExitCode.IO : ExitCode.BUSY);
    }

    /**
     * The coordinator has ended: a checkpoint that is under way, or begins now, has no other end than this. @param why
     * for who asks for one
     */
    public void abandon(String why) {
        if (impossible == null) {
            impossible = why;
        }
        alone = true;
        endIfAlone(now);
    }

    /** Behind the manifest, where that is being written. */
    private void endIfAlone(CoordinatedAttempt attempt) {
        if (alone && attempt != null) {
            attempt.committing.thenRun(() -> {
                if (!attempt.ended.isDone()) {
                    boolean complete = attempt.manifest() != null;
                    ended(new CheckpointOutcome(attempt.writer.id(), complete,
                            complete ? null : ExitCode.BUSY.value() + " " + impossible, List.of()));
                }
            });
        }
    }

    /** The coordinator has ended, too. */
    @Override
    public void jobEnded() {
        abandon("the job has ended");
    }

    @Override
    public void close() {
        chain.close();
    }
}
