package org.udckpt.lifecycle.job;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.udckpt.agent.Job;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.lifecycle.checkpoint.CheckpointDestination;
import org.udckpt.lifecycle.checkpoint.CheckpointQueue;
import org.udckpt.lifecycle.checkpoint.HugePageRepair;
import org.udckpt.lifecycle.checkpoint.LocalCheckpoints;
import org.udckpt.lifecycle.checkpoint.PeriodicCheckpoints;
import org.udckpt.lifecycle.checkpoint.UnitCheckpoints;
import org.udckpt.lifecycle.metrics.JobMetrics;
import org.udckpt.lifecycle.metrics.MetricsOutputs;
import org.udckpt.process.capture.WarmUp;
import org.udckpt.store.ImageOptions;
import org.udckpt.store.tiers.TierFlush;
import org.udckpt.support.config.Interval;
import org.udckpt.support.report.Messages;

/**
 * What a job offers once its ranks run, in whichever incarnation: commands, checkpoints by themselves, a warm capture.
 */
public final class JobService {
    private static final int REHEARSALS = 30; // after which a stop no longer gets shorter
    private static final Duration REHEARSAL_TIME = Duration.ofSeconds(5);

    private JobService() {}

    public static void open(Job job, Path library) throws IOException {
        WriterOptions options = ImageOptions.of(job.settings());
        MetricsOutputs metrics = job.owns(new MetricsOutputs(job.settings()));
        Optional<TierFlush> flush = JobStorage.startFlush(job.settings(), job.facts().name()).map(job::owns);
        flush.ifPresent(tiered -> job.beforeNextRun(tiered::leaveToNextRun));
        CheckpointDestination destination =
                JobStorage.destination(job.settings(), job.facts().name(), job.imageDirectory(), flush);
        HugePageRepair hugePages = job.owns(new HugePageRepair(job));
        LocalCheckpoints local = new LocalCheckpoints(job, options, destination);
        CheckpointQueue checkpoints = job.owns(new CheckpointQueue(job.facts().name(), job.settings(),
                job.imageDirectory(), local, () -> {
                    if (local.splitsHugePages()) {
                        hugePages.ask();
                    }
                    destination.onComplete().run();
                }));
        hugePages.start(checkpoints::busy);
        if (job.filling().bytes() > 0) {
            job.filling().filled().thenRun(hugePages::ask); // it came in by small pages
        }
        Interval interval = Interval.of(job.settings());
        metrics.open(() -> new JobMetrics(new JobMetricsSource(job, checkpoints, flush)));
        job.open(new LocalCommands(job, checkpoints, flush));
        if (!(interval instanceof Interval.Never)) {
            job.owns(PeriodicCheckpoints.start(checkpoints, interval));
        }
        // Not beside memory that comes in: no checkpoint can be taken before that has ended.
        job.filling().filled()
                .thenRun(() -> Thread.ofPlatform().daemon().name("warm-up").start(() -> warmUp(library)));
    }

    /** The same for a unit of a job of several nodes, whose checkpoints are asked for elsewhere. */
    public static void openUnit(Job job, UnitCheckpoints checkpoints, Path library) throws IOException {
        HugePageRepair hugePages = job.owns(new HugePageRepair(job));
        hugePages.start(checkpoints::busy);
        checkpoints.onCommitted(hugePages::ask);
        if (job.filling().bytes() > 0) {
            job.filling().filled().thenRun(hugePages::ask); // it came in by small pages
        }
        job.open(new UnitCommands(job, checkpoints));
        job.filling().filled()
                .thenRun(() -> Thread.ofPlatform().daemon().name("warm-up").start(() -> warmUp(library)));
    }

    /** Compiles the code of the stop, so that the first checkpoint stops the job no longer than the later ones. */
    private static void warmUp(Path library) {
        try {
            WarmUp.run(REHEARSALS, REHEARSAL_TIME, library);
        } catch (RuntimeException e) {
            Messages.warn("the warm-up stop failed: " + e.getMessage() + "; the first checkpoint may take longer");
        }
    }
}
