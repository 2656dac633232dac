package org.udckpt.job.life;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.udckpt.job.agent.Job;
import org.udckpt.job.config.Installation;
import org.udckpt.job.config.Interval;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.launch.HostLayout;
import org.udckpt.job.metrics.Tally;
import org.udckpt.job.report.Durations;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.process.restore.Relocation;

/** A job from its start to its end: one life, or with {@code --restart-on-failure} as many as it needs (docs/restart-on-failure.md). */
public final class Lives {
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final Settings settings;
    private final Installation installation;
    private final OwnCheckpoints own;
    private final FailureStreak streak;
    private final int limit;
    private final BetweenLives between = new BetweenLives();
    private final Map<Long, FailureStreak.Point> points = new HashMap<>();
    /** The checkpoint that the present life began with; null: with none. */
    private FailureStreak.Point from;
    private Instant began = Instant.now();
    /** The checkpoint to which {@link #relocation} belongs. */
    private long moved = -1;
    private Relocation relocation = Relocation.NONE;
    private String name;
    private HostLayout layout;
    private int code;

    private Lives(Settings settings, Installation installation, OwnCheckpoints own, int limit) {
        this.settings = settings;
        this.installation = installation;
        this.own = own;
        this.limit = limit;
        this.streak = new FailureStreak(limit);
    }

    /**
     * Runs a new job to its end; its exit code.
     *
     * @param directory where its checkpoints go
     */
    public static int run(Settings settings, Installation installation, Path directory, Supplier<Job> first) throws InterruptedException {
        int limit = settings.count(Option.RESTART_ON_FAILURE);
        return limit == 0 ? once(first) : new Lives(settings, installation, OwnCheckpoints.fromNow(settings, directory), limit).run(first);
    }

    /**
     * Runs a restarted job to its end; its exit code.
     *
     * @param location what it is restarted from
     * @param relocation where its files are; in the checkpoints that it takes from then on they are there already
     */
    public static int run(Settings settings, Installation installation, ImageLocation location, Relocation relocation, Supplier<Job> first) throws InterruptedException {
        int limit = settings.count(Option.RESTART_ON_FAILURE);
        if (limit == 0) {
            return once(first);
        }
        Lives lives = new Lives(settings, installation, OwnCheckpoints.from(settings, location), limit);
        lives.from = new FailureStreak.Point(location.entry().id(), 0);
        lives.moved = location.entry().id();
        lives.relocation = relocation;
        lives.points.put(lives.from.id(), lives.from);
        return lives.run(first);
    }

    private static int once(Supplier<Job> first) throws InterruptedException {
        try (Job job = first.get()) {
            return job.await();
        }
    }

    private int run(Supplier<Job> first) throws InterruptedException {
        if (Interval.of(settings) instanceof Interval.Never) {
            Messages.info("no checkpoint is taken by itself (--interval): a job that fails is restarted from those that are asked for");
        }
        Optional<Job> life = Optional.of(first.get()); // who cannot even begin has to be told why, at once
        while (life.isPresent() && fails(life.get())) {
            life = next();
        }
        return code;
    }

    /** Waits for the end of a life, and closes it; false when it is the last one. */
    private boolean fails(Job job) throws InterruptedException {
        name = job.facts().name();
        layout = job.facts().layout();
        try {
            code = job.await();
        } catch (InterruptedException | RuntimeException e) {
            job.close();
            throw e;
        }
        between.begin(); // before the question: no signal falls between the two
        if (!job.failed(code)) {
            job.close();
            return false;
        }
        Tally.ofThisProcess().lifeFailed();
        job.closeForNextLife();
        return true;
    }

    /** The job's next life; empty when it has none. */
    private Optional<Job> next() throws InterruptedException {
        long age = ageNow();
        while (true) {
            List<ImageLocation> complete = complete();
            Optional<FailureStreak.Point> point = streak.failed(from == null ? null : from.id(), age, complete.stream().map(location -> points.get(location.entry().id())).toList());
            if (point.isEmpty()) {
                giveUp(complete);
                return Optional.empty();
            }
            ImageLocation location = complete.stream().filter(each -> each.entry().id() == point.get().id()).findFirst().orElseThrow();
            Messages.info("job " + name + " failed with code " + code + "; restarting it from " + location.entry().directory() + ", " + Durations.format(Math.max(0, age - point.get().age()))
                    + " before (restart " + streak.failures() + " of at most " + limit + " without getting further)");
            OptionalInt end = between.awaitEnd(pause());
            if (end.isPresent()) {
                Messages.info("job " + name + " is not restarted: signal " + end.getAsInt() + " asked for its end");
                code = endedBy(end.getAsInt());
                return Optional.empty();
            }
            from = point.get();
            age = from.age(); // should it not even begin
            Optional<Job> job = restart(location);
            if (job.isPresent()) {
                return job;
            }
        }
    }

    /** As shells have it for a command that a signal ended. */
    private static int endedBy(int signal) {
        return 128 + signal;
    }

    private Optional<Job> restart(ImageLocation location) throws InterruptedException {
        try {
            Job job = Restart.start(settings, installation, location, name, layout, location.entry().id() == moved ? relocation : Relocation.NONE, Onlooker.NONE, RestartPhases.sinceNow());
            began = Instant.now();
            between.awaitEnd(Duration.ZERO).ifPresent(signal -> job.end(endedBy(signal))); // it came too early for the new processes
            return Optional.of(job);
        } catch (Failure e) {
            between.begin();
            Messages.error(e.getMessage(), e);
            return Optional.empty();
        }
    }

    /** The job's complete checkpoints, oldest first; those that are new get their age. */
    private List<ImageLocation> complete() {
        List<ImageLocation> complete = own.complete();
        for (ImageLocation location : complete) {
            points.computeIfAbsent(location.entry().id(), id -> new FailureStreak.Point(id, ageAt(location.entry().manifest().takenAt())));
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
            Messages.error("job " + name + " failed with code " + code + " and is not restarted: it has no complete checkpoint", null);
        } else {
            Messages.error("job " + name + " failed with code " + code + " and is not restarted: that was failure " + streak.failures() + " without getting further; its newest checkpoint is "
                    + complete.getLast().entry().directory(), null);
        }
    }
}
