package org.udckpt.lifecycle.job;

import java.nio.file.Path;
import java.util.Optional;
import org.udckpt.image.ImageNames;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.lifecycle.checkpoint.CheckpointDestination;
import org.udckpt.lifecycle.checkpoint.DirectoryRetention;
import org.udckpt.store.Damage;
import org.udckpt.store.ImageOptions;
import org.udckpt.store.Tiers;
import org.udckpt.store.tiers.PartHosts;
import org.udckpt.store.tiers.TierFlush;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Storage of a job's checkpoints. With tiers, one process of the job copies them to the slow tier; without tiers, old
 * ones are removed.
 */
public final class JobStorage {
    /** Label of a checkpoint with the name of its job. */
    public static final String JOB = "job";

    private JobStorage() {}

    /** The directory of the next checkpoint. @param otherwise the directory without tiers */
    public static Path directory(Settings settings, Path otherwise) {
        return Tiers.of(settings).map(tiers -> tiers.fast().path()).orElse(otherwise);
    }

    /** Whether a complete checkpoint belongs to this job. */
    public static boolean isOf(Catalogue.Entry complete, String job) {
        return complete.manifest().labels().getOrDefault(JOB, "").equals(job);
    }

    /** Starts copying to the slow tier, if there are tiers. Close it at the job's end. @param job the job's name */
    public static Optional<TierFlush> startFlush(Settings settings, String job) {
        return startFlush(settings, job, ownOf(job));
    }

    /** Tiers may be shared with other jobs. */
    private static PartHosts ownOf(String job) {
        return PartHosts.none(entry -> isOf(entry, job));
    }

    /** The same for a job of several hosts. @param hosts are asked when each host has its own fast tier */
    public static Optional<TierFlush> startFlush(Settings settings, String job, PartHosts hosts) {
        return Tiers.of(settings)
                .map(tiers -> TierFlush.start(tiers, ImageOptions.of(settings), settings.count(Option.KEEP),
                        settings.atLeastOne(Option.KEEP_FAST),
                        settings.duration(Option.DRAIN_TIMEOUT), tiers.local() ? hosts : ownOf(job)));
    }

    /** Copies the checkpoints that the last incarnation of a job left uncopied. */
    public static void finishFlush(Settings settings, String job) throws InterruptedException {
        Optional<TierFlush> flush = startFlush(settings, job);
        if (flush.isPresent()) {
            flush.get().close();
        }
    }

    /** Destination of a job of one host. @param job the job's name @param directory directory of its checkpoints */
    public static CheckpointDestination destination(Settings settings, String job, Path directory,
            Optional<TierFlush> flush) {
        return destination(settings, job, directory, flush, Optional.empty());
    }

    /** The same. @param parts the directories of the hosts' own parts */
    public static CheckpointDestination destination(Settings settings, String job, Path directory,
            Optional<TierFlush> flush, Optional<HostParts> parts) {
        if (flush.isPresent()) {
            TierFlush tiered = flush.get();
            return new CheckpointDestination(directory, tiered::beforeNumber, tiered::ask, parts, tiered.damage());
        }
        Damage damage = new Damage();
        return new CheckpointDestination(directory, () -> {},
                new DirectoryRetention(settings, directory, entry -> isOf(entry, job), damage), parts, damage);
    }

    /**
     * A directory that all hosts of a job share: a file on its file system is the same file for all of them.
     * Empty: the directory of the checkpoints.
     */
    public static Optional<Path> shared(Settings settings) {
        return Tiers.of(settings).filter(Tiers::local).map(tiers -> tiers.slow().path());
    }

    /**
     * The directory in which each host of several keeps its parts of checkpoints; empty: all write to
     * {@link #directory}.
     *
     * @param job the job's name
     */
    public static Optional<HostParts> parts(Settings settings, String job) {
        return Tiers.of(settings).filter(Tiers::local).map(tiers -> {
            Path fast = tiers.fast().path();
            if (fast.getParent() == null) {
                throw new Failure(ExitCode.USAGE, tiers.format() + ": the fast tier of each host cannot be the root "
                        + "directory");
            }
            if (job.equals(ImageNames.LOCK) || job.equals(ImageNames.SEQUENCE)
                    || ImageNames.id(fast.resolve(job)).isPresent()) {
                throw new Failure(ExitCode.USAGE, "a job with " + tiers.format() + " cannot be named " + job
                        + ": udckpt uses this name in " + fast + "; give another --name");
            }
            return PartHosts.parts(fast, job);
        });
    }
}
