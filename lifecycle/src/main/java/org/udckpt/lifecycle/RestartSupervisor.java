package org.udckpt.lifecycle;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.udckpt.lifecycle.job.JobStorage;
import org.udckpt.lifecycle.job.OwnCheckpoints;
import org.udckpt.lifecycle.lead.LeadGuard;
import org.udckpt.lifecycle.metrics.JobCounters;
import org.udckpt.process.restore.Relocation;
import org.udckpt.store.ImageLocation;
import org.udckpt.support.config.Interval;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * A job from its start to its end: one incarnation, or with {@code --restart-on-failure} as many as it needs
 * (docs/user/restart.md).
 */
public final class RestartSupervisor {
    /** Begins a job's first incarnation in this process. */
    @FunctionalInterface
    public interface First {
        JobRun begin() throws InterruptedException;
    }

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final OwnCheckpoints own;
    private final FailureStreak streak;
    private final int limit;
    private final SignalsBetweenRuns between = new SignalsBetweenRuns();
    private final Map<Long, FailureStreak.Point> points = new HashMap<>();
    /** The checkpoint that the present incarnation began with; null: with none. */
    private FailureStreak.Point from;
    private Instant began = Instant.now();
    /** The checkpoint to which {@link #relocation} belongs. */
    private long moved = -1;
    private Relocation relocation = Relocation.NONE;
    private Settings settings;
    /** For the same checkpoint: by the next one the job is on the GPUs that this chose. */
    private String gpus = "";
    private String name;
    private JobRun run;
    private int code;

    private RestartSupervisor(OwnCheckpoints own, int limit) {
        this.own = own;
        this.limit = limit;
        this.streak = new FailureStreak(limit);
    }

    /**
     * Runs a new job to its end; its exit code.
     *
     * @param directory where its checkpoints go
     */
    public static int run(Settings settings, Path directory, First first) throws InterruptedException {
        int limit = settings.count(Option.RESTART_ON_FAILURE);
        if (limit == 0) {
            return once(first);
        }
        OwnCheckpoints own = OwnCheckpoints.fromNow(settings, directory);
        LeadGuard.began(own.before(), 0);
        return new RestartSupervisor(own, limit).run(settings, first);
    }

    /**
     * Runs a restarted job to its end; its exit code.
     *
     * @param location what it is restarted from
     * @param relocation where its files are; in the checkpoints that it takes from then on they are there already
     */
    public static int run(Settings settings, ImageLocation location, Relocation relocation, First first)
            throws InterruptedException {
        int limit = settings.count(Option.RESTART_ON_FAILURE);
        if (limit == 0) {
            return once(first);
        }
        OwnCheckpoints own = OwnCheckpoints.from(settings, location);
        LeadGuard.began(own.before(), location.entry().id());
        RestartSupervisor supervisor = new RestartSupervisor(own, limit);
        supervisor.from = new FailureStreak.Point(location.entry().id(), 0);
        supervisor.moved = location.entry().id();
        supervisor.relocation = relocation;
        supervisor.points.put(supervisor.from.id(), supervisor.from);
        return supervisor.run(settings, first);
    }

    /** Where a job that is restarted from there takes its checkpoints. */
    public static Path directory(Settings settings, ImageLocation location) {
        Path given = settings.text(Option.DIR).isEmpty() ? location.parent()
                : Path.of(settings.text(Option.DIR)).toAbsolutePath().normalize();
        return JobStorage.directory(settings, given);
    }

    private static int once(First first) throws InterruptedException {
        try (JobRun run = first.begin()) {
            return run.await();
        }
    }

    private int run(Settings given, First first) throws InterruptedException {
        settings = given;
        gpus = given.text(Option.MAP_GPU);
        if (Interval.of(settings) instanceof Interval.Never) {
            Messages.info("no --interval is set: a job that fails is restarted only from checkpoints taken by "
                    + "'udckpt checkpoint'");
        }
        run = first.begin(); // who cannot even begin has to be told why, at once
        while (run != null && fails()) {
            run = next().orElse(null);
        }
        if (run == null) {
            JobStorage.finishFlush(settings, name); // the last incarnation has left it to a next one
        }
        return code;
    }

    /** Waits for the end of an incarnation, and closes it; false when it is the last one. */
    private boolean fails() throws InterruptedException {
        name = run.name();
        try {
            code = run.await();
        } catch (InterruptedException | RuntimeException e) {
            run.close();
            throw e;
        }
        between.begin(); // before the question: no signal falls between the two
        if (!run.failed(code)) {
            run.close();
            return false;
        }
        JobCounters.ofThisProcess().runFailed();
        run.closeForNextRun();
        return true;
    }

    /** The job's next incarnation; empty when it has none. */
    private Optional<JobRun> next() throws InterruptedException {
        long age = ageNow();
        while (true) {
            List<ImageLocation> complete = complete();
            Optional<FailureStreak.Point> point = streak.failed(from == null ? null : from.id(), age,
                    complete.stream().map(location -> points.get(location.entry().id())).toList());
            if (point.isEmpty()) {
                giveUp(complete);
                return Optional.empty();
            }
            ImageLocation location =
                    complete.stream().filter(each -> each.entry().id() == point.get().id()).findFirst().orElseThrow();
            Messages.info("job " + name + " failed with code " + code + "; restarting it from "
                    + location.entry().directory() + ", " + Durations.format(Math.max(0, age - point.get().age()))
                    + " before (restart " + streak.failures() + " of at most " + limit + " without a new checkpoint)");
            OptionalInt end = between.awaitEnd(pause());
            if (end.isPresent()) {
                Messages.info("job " + name + " is not restarted: it received signal " + end.getAsInt());
                code = endedBy(end.getAsInt());
                return Optional.empty();
            }
            from = point.get();
            age = from.age(); // should it not even begin
            Optional<JobRun> next = restart(location);
            if (next.isPresent()) {
                return next;
            }
        }
    }

    /** As shells have it for a command that a signal ended. */
    private static int endedBy(int signal) {
        return 128 + signal;
    }

    private Optional<JobRun> restart(ImageLocation location) throws InterruptedException {
        try {
            boolean same = location.entry().id() == moved;
            settings.flag(Option.MAP_GPU, same ? gpus : "");
            JobRun next = run.again(location, same ? relocation : Relocation.NONE);
            began = Instant.now();
            // it came too early for the new processes
            between.awaitEnd(Duration.ZERO).ifPresent(signal -> next.end(endedBy(signal)));
            return Optional.of(next);
        } catch (Failure e) {
            between.begin();
            Messages.error(e.getMessage(), e);
            return Optional.empty();
        }
    }

    /** The job's complete checkpoints, oldest first; those that are new get their age. */
    private List<ImageLocation> complete() {
        List<ImageLocation> complete = own.complete(name);
        for (ImageLocation location : complete) {
            points.computeIfAbsent(location.entry().id(),
                    id -> new FailureStreak.Point(id, ageAt(location.entry().manifest().takenAt())));
        }
        return complete;
    }

    private long ageNow() {
        return ageAt(Instant.now());
    }

    private long ageAt(Instant time) {
        return (from == null ? 0 : from.age()) + Duration.between(began, time).toNanos();
    }

    /** None after a first failure; then longer and longer: whatever is the cause may pass. */
    private Duration pause() {
        if (streak.failures() == 1) {
            return Duration.ZERO;
        }
        Duration pause = Duration.ofSeconds(1L << Math.min(streak.failures() - 2, Long.SIZE / 2));
        return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    }

    private void giveUp(List<ImageLocation> complete) {
        if (complete.isEmpty()) {
            Messages.error("job " + name + " failed with code " + code
                    + " and is not restarted: it has no complete checkpoint", null);
        } else {
            Messages.error("job " + name + " failed with code " + code + " and is not restarted: this was failure "
                    + streak.failures() + " without a new checkpoint; its newest checkpoint is "
                    + complete.getLast().entry().directory(), null);
        }
    }
}
