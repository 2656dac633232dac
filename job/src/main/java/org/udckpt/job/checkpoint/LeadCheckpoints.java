package org.udckpt.job.checkpoint;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.udckpt.image.Manifest;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.manifest.PartReport;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.image.write.WriteMeter;
import org.udckpt.job.command.CommandServer.Progress;
import org.udckpt.job.config.Settings;
import org.udckpt.job.coordinator.Op;
import org.udckpt.job.coordinator.Outcome;
import org.udckpt.job.metrics.Tally;
import org.udckpt.job.pace.CheckpointCost;
import org.udckpt.job.report.CodedText;
import org.udckpt.job.report.Durations;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.store.ImageOptions;
import org.udckpt.job.store.Keys;
import org.udckpt.job.store.StopTimesRow;

/**
 * Takes the checkpoints of a job of several nodes: the lead's half, which owns the image's directory and its manifest. The nodes' halves are
 * {@link UnitCheckpoints}; between them is the coordinator ({@link Agreement}, docs/coordination.md), whose words come in by {@link #called}, {@link #commit} and
 * {@link #ended}.
 */
public final class LeadCheckpoints implements Checkpoints, AutoCloseable {
    private static final int ATTEMPTS = 40;
    private static final int TORN_ATTEMPTS = 4;
    private static final long PAUSE_MS = 100, LONGEST_PAUSE_MS = 2000;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60); // a restarted job's memory may still come in
    private static final long FINISH_MINUTES = 30;

    /** What the lead itself writes. */
    @FunctionalInterface
    public interface JobTables {
        /** All of the job's own tables. @param stops of the job's life until now */
        void write(CheckpointWriter writer, StopTimesRow stops) throws IOException;
    }

    /** One try. */
    private static final class Attempt {
        final CheckpointWriter writer;
        final Progress progress;
        final Map<Integer, PartReport> reports = new HashMap<>();
        final List<PhaseTime> times = new ArrayList<>();
        final CompletableFuture<Long> resumed = new CompletableFuture<>();
        final CompletableFuture<Outcome> ended = new CompletableFuture<>();
        volatile Manifest manifest;
        volatile Failure commitFailure;
        volatile boolean unwanted;
        final Instant takenAt = Instant.now();

        Attempt(CheckpointWriter writer, Progress progress) {
            this.writer = writer;
            this.progress = progress;
        }
    }

    private final String job;
    private final int units;
    private final int ranks;
    private final Map<String, String> labels;
    private final Settings settings;
    private final Path directory;
    private final ImageChain chain;
    private final Agreement agreement;
    private final JobTables tables;
    private final Runnable kept;
    private final Semaphore one = new Semaphore(1);
    private final LifeStatistics statistics = new LifeStatistics();
    private volatile Consumer<Taken> listener = taken -> { };
    private volatile Attempt now;
    private volatile Phase phase;
    private volatile String impossible;
    private boolean cleaned;

    /**
     * @param job       its name
     * @param ranks     in all units
     * @param labels    of its images
     * @param directory of all its checkpoints
     */
    public LeadCheckpoints(String job, int units, int ranks, Map<String, String> labels, Settings settings, Path directory, Agreement agreement, JobTables tables) {
        this.job = job;
        this.units = units;
        this.ranks = ranks;
        this.labels = labels;
        this.settings = settings;
        this.directory = directory;
        this.chain = new ImageChain(settings, directory, ImageOptions.of(settings), () -> { });
        this.agreement = agreement;
        this.tables = tables;
        this.kept = new Pruning(settings, directory);
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

    /** "running", or the phase of the checkpoint under way. */
    public String state() {
        Phase reached = phase;
        return reached == null ? "running" : reached.name().toLowerCase(Locale.ROOT);
    }

    /** Of all checkpoints of this life. */
    public LifeStatistics statistics() {
        return statistics;
    }

    @Override
    public String take(Progress progress, boolean wait) {
        if (!one.tryAcquire()) {
            throw new Failure(ExitCode.BUSY, "a checkpoint of job " + job + " is under way (" + state() + "): try again when it is done");
        }
        boolean handedOver = false;
        try {
            cleanOnce();
            if (wait) {
                return takeWhole(progress);
            }
            Attempt attempt = resumed(progress);
            finishBeside(attempt);
            handedOver = true;
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
    private String takeWhole(Progress progress) throws InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return finish(resumed(progress));
            } catch (Failure failed) {
                if (failed.code() != ExitCode.BUSY || attempt == TORN_ATTEMPTS || !possible()) {
                    throw failed;
                }
                progress.say(failed.getMessage() + ": once more");
            }
        }
    }

    /** In a thread of its own. Where none can be had, the checkpoint is thrown away when its nodes have written it. */
    private void finishBeside(Attempt attempt) throws IOException {
        try {
            Thread.ofPlatform().name("checkpoint-end").start(() -> finishAlone(attempt));
        } catch (OutOfMemoryError none) {
            attempt.unwanted = true;
            attempt.ended.thenRun(() -> close(attempt));
            throw new IOException("no thread can be had to write it: " + none.getMessage(), none);
        }
    }

    /** What earlier leads of this job left half written. */
    private void cleanOnce() throws IOException {
        if (!cleaned && Files.isDirectory(directory)) {
            new Catalogue(directory, Keys.user(settings)).clean().forEach(entry -> Messages.info("removed " + entry.name() + ", whose writer had died"));
        }
        cleaned = true;
    }

    private Failure failure(Failure cause) {
        Tally.ofThisProcess().failed();
        return possible() ? new Failure(cause.code(), cause.getMessage() + "; the job goes on", cause) : cause;
    }

    /** Returns when all ranks run again. What may succeed another time is tried again. */
    private Attempt resumed(Progress progress) throws InterruptedException {
        long giveUp = System.nanoTime() + PATIENCE_NS;
        for (int number = 1; ; number++) {
            if (impossible != null) {
                throw new Failure(ExitCode.BUSY, "a checkpoint of job " + job + ": " + impossible);
            }
            Attempt attempt = new Attempt(chain.begin(new WriteMeter()), progress);
            now = attempt;
            String order = new String(attempt.writer.order(units).encode(), StandardCharsets.US_ASCII);
            agreement.checkpoint(attempt.writer.id(), order);
            try {
                attempt.resumed.get();
                attempt.times.forEach(time -> progress.say(time.phase().name().toLowerCase(Locale.ROOT) + " " + Durations.format(time.nanoseconds())));
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

    private String finish(Attempt attempt) throws InterruptedException {
        try {
            Outcome outcome = attempt.ended.get();
            if (!outcome.committed()) {
                throw refused(attempt, outcome);
            }
            Manifest manifest = attempt.manifest;
            long resumed = attempt.resumed.join();
            chain.complete(attempt.writer);
            Tally.ofThisProcess().taken(manifest, attempt.times, System.nanoTime() - resumed);
            listener.accept(new Taken(attempt.writer.name(), resumed - manifest.stopMaxNanos(), CheckpointCost.of(manifest.stopMaxNanos(), System.nanoTime() - resumed, java.util.OptionalDouble.empty())));
            attempt.progress.say("write " + Durations.format(manifest.writeNanos()) + ", " + Durations.bytes(manifest.storedBytes()) + "; stop " + Durations.format(manifest.stopMaxNanos()));
            if (outcome.why() != null) {
                Messages.warn("checkpoint " + attempt.writer.name() + " is complete, but " + outcome.why());
            }
            kept.run();
            return attempt.writer.name();
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible); // it is never completed with a failure
        } finally {
            close(attempt);
        }
    }

    private void finishAlone(Attempt attempt) {
        try {
            finish(attempt);
        } catch (RuntimeException | InterruptedException e) {
            Failure failure = failure(Failure.of("checkpoint " + attempt.writer.name() + " of job " + job, e));
            Messages.error(failure.getMessage(), failure);
        } finally {
            done();
        }
    }

    private static Failure refused(Attempt attempt, Outcome outcome) {
        if (attempt.commitFailure != null) {
            return attempt.commitFailure;
        }
        var failed = outcome.calls().reversed().stream().map(call -> call.tally().failure()).filter(java.util.Objects::nonNull).findFirst();
        String what = "checkpoint " + attempt.writer.name() + ": ";
        return failed.map(node -> CodedText.parse(what + "node " + node.node() + ": ", node.text(), ExitCode.IO)).orElseGet(() -> CodedText.parse(what, outcome.why(), ExitCode.IO));
    }

    private void done() {
        phase = null;
        now = null;
        one.release();
    }

    private static void close(Attempt attempt) {
        try {
            attempt.writer.close();
        } catch (IOException e) {
            Messages.error("could not remove the failed checkpoint " + attempt.writer.name() + ": " + e.getMessage(), e);
        }
    }

    /** A node's part is durable. */
    public void report(PartReport report) {
        Attempt attempt = now;
        if (attempt != null) {
            synchronized (attempt.reports) {
                attempt.reports.put(report.node().index(), report);
            }
        }
    }

    /** All nodes have done one phase. */
    public void called(Outcome.CallTime call) {
        Attempt attempt = now;
        Op op = call.request().op();
        if (attempt == null || call.request().checkpoint() != attempt.writer.id() || call.tally().failure() != null) {
            return;
        }
        switch (op) {
            case SUSPEND, DRAIN, SNAPSHOT, RESUME -> {
                phase = Phase.valueOf(op.name());
                attempt.times.add(new PhaseTime(PhaseTime.JOB, phase, call.nanos()));
                if (op == Op.RESUME) {
                    phase = Phase.WRITE;
                    statistics.stopped(attempt.times);
                    attempt.resumed.complete(System.nanoTime());
                }
            }
            case WRITE, COMMIT, ABORT, EXCHANGE, FILES, START, CONNECT, OPEN, END -> { }
        }
    }

    /** All parts are durable: writes the manifest, in a thread of its own, and tells. */
    public void commit(long number) {
        Attempt attempt = now;
        Thread.ofPlatform().name("checkpoint-commit").start(() -> agreement.manifest(number, commit(attempt, number)));
    }

    /** Why there is no manifest, or null. The coordinator is told in any case: it waits, and with it the job's end. */
    private String commit(Attempt attempt, long number) {
        if (attempt == null || attempt.writer.id() != number || attempt.unwanted) {
            return "checkpoint " + number + " is not under way";
        }
        phase = Phase.COMMIT;
        try {
            List<PartReport> reports;
            synchronized (attempt.reports) {
                reports = List.copyOf(attempt.reports.values());
            }
            for (PartReport report : reports) {
                attempt.writer.add(report);
            }
            tables.write(attempt.writer, statistics.row());
            attempt.writer.statistics(attempt.times);
            attempt.manifest = attempt.writer.commit(new CheckpointInfo(ranks, attempt.takenAt, "x86_64", labels));
            return null;
        } catch (IOException | RuntimeException | Error e) {
            Failure failure = Failure.of("the manifest of " + attempt.writer.name(), e);
            Messages.debugTrace("the manifest of " + attempt.writer.name(), failure);
            attempt.commitFailure = failure;
            return failure.getMessage();
        }
    }

    /** The coordinator has done with it. */
    public void ended(Outcome outcome) {
        Attempt attempt = now;
        if (attempt == null || attempt.writer.id() != outcome.checkpoint()) {
            return;
        }
        if (!outcome.committed()) {
            attempt.resumed.completeExceptionally(refused(attempt, outcome));
        }
        attempt.ended.complete(outcome);
    }

    /** Waits for the image that is being written: the job may be over, its last checkpoint is not. */
    @Override
    public void close() throws InterruptedException {
        if (!one.tryAcquire(FINISH_MINUTES, TimeUnit.MINUTES)) {
            Messages.error("the last checkpoint was still being written after " + FINISH_MINUTES + " minutes; it is given up", null);
        }
    }
}
