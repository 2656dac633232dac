package org.udckpt.job.life;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.job.agent.Job;
import org.udckpt.job.checkpoint.CheckpointQueue;
import org.udckpt.job.checkpoint.HugePageRepair;
import org.udckpt.job.checkpoint.Keeping;
import org.udckpt.job.checkpoint.LocalCheckpoints;
import org.udckpt.job.checkpoint.Periodic;
import org.udckpt.job.checkpoint.UnitCheckpoints;
import org.udckpt.job.config.Interval;
import org.udckpt.job.metrics.JobMetrics;
import org.udckpt.job.metrics.MetricsOutputs;
import org.udckpt.job.report.Messages;
import org.udckpt.job.store.ImageOptions;
import org.udckpt.job.tiers.Drain;
import org.udckpt.process.capture.Rehearsal;

/** What a job offers once its ranks run, in whichever life: commands, checkpoints by themselves, a warm capture. */
final class Service {
    private static final int REHEARSALS = 30; // after which a stop no longer gets shorter
    private static final Duration REHEARSAL_TIME = Duration.ofSeconds(5);

    private Service() {}

    static void open(Job job, Path library) throws IOException {
        WriterOptions options = ImageOptions.of(job.settings());
        MetricsOutputs metrics = job.owns(new MetricsOutputs(job.settings()));
        Optional<Drain> drain = Draining.start(job.settings(), job.facts().name()).map(job::owns);
        drain.ifPresent(tiered -> job.beforeNextLife(tiered::leaveToNextLife));
        Keeping keeping = Draining.keeping(job.settings(), job.facts().name(), job.imageDirectory(), drain);
        HugePageRepair hugePages = job.owns(new HugePageRepair(job));
        CheckpointQueue checkpoints = job.owns(new CheckpointQueue(job.facts().name(), job.settings(), job.imageDirectory(), new LocalCheckpoints(job, options, keeping), () -> {
            hugePages.ask();
            keeping.kept().run();
        }));
        hugePages.start(checkpoints::busy);
        if (job.filling().bytes() > 0) {
            job.filling().filled().thenRun(hugePages::ask); // it came in by small pages
        }
        Interval interval = Interval.of(job.settings());
        metrics.open(() -> new JobMetrics(new WatchedJob(job, checkpoints, drain)));
        job.open(new Commands(job, checkpoints, drain));
        if (!(interval instanceof Interval.Never)) {
            job.owns(Periodic.start(checkpoints, interval));
        }
        // Not beside memory that comes in: no checkpoint can be taken before that has ended.
        job.filling().filled().thenRun(() -> Thread.ofPlatform().daemon().name("rehearsal").start(() -> rehearse(library)));
    }

    /** The same for a unit of a job of several nodes, whose checkpoints are asked for elsewhere. */
    static void openUnit(Job job, UnitCheckpoints checkpoints, Path library) throws IOException {
        HugePageRepair hugePages = job.owns(new HugePageRepair(job));
        hugePages.start(checkpoints::busy);
        checkpoints.onCommitted(hugePages::ask);
        if (job.filling().bytes() > 0) {
            job.filling().filled().thenRun(hugePages::ask); // it came in by small pages
        }
        job.open(new UnitCommands(job, checkpoints));
        job.filling().filled().thenRun(() -> Thread.ofPlatform().daemon().name("rehearsal").start(() -> rehearse(library)));
    }

    /** Compiles the code of the stop, so that the first checkpoint stops the job no longer than the later ones. */
    private static void rehearse(Path library) {
        try {
            Rehearsal.run(REHEARSALS, REHEARSAL_TIME, library);
        } catch (RuntimeException e) {
            Messages.warn("could not rehearse a stop: " + e.getMessage() + "; the first checkpoint may take longer");
        }
    }
}
