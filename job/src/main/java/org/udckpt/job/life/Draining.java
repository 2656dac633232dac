package org.udckpt.job.life;

import java.nio.file.Path;
import java.util.Optional;
import org.udckpt.image.ImageNames;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.job.checkpoint.Keeping;
import org.udckpt.job.checkpoint.Pruning;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.store.Damage;
import org.udckpt.job.store.ImageOptions;
import org.udckpt.job.store.Tiers;
import org.udckpt.job.tiers.Drain;
import org.udckpt.job.tiers.PartHosts;

/** What becomes of a job's checkpoints: with tiers they are copied to the slow one, by one process of the job; without, old ones go. */
final class Draining {
    /** The label of a checkpoint that is its job's name. */
    static final String JOB = "job";

    private Draining() {}

    /** Where the next checkpoint goes. @param otherwise where there are no tiers */
    static Path directory(Settings settings, Path otherwise) {
        return Tiers.of(settings).map(tiers -> tiers.fast().path()).orElse(otherwise);
    }

    /** Whether a complete checkpoint is that job's. */
    static boolean isOf(Catalogue.Entry complete, String job) {
        return complete.manifest().labels().getOrDefault(JOB, "").equals(job);
    }

    /** Begins to copy, if there are tiers; to be closed at the job's end. @param job its name */
    static Optional<Drain> start(Settings settings, String job) {
        return start(settings, job, ownOf(job));
    }

    /** On tiers that others may use, too. */
    private static PartHosts ownOf(String job) {
        return PartHosts.none(entry -> isOf(entry, job));
    }

    /** The same, of a job of several hosts. @param hosts are asked where each has the fast tier for itself */
    static Optional<Drain> start(Settings settings, String job, PartHosts hosts) {
        return Tiers.of(settings).map(tiers -> Drain.start(tiers, ImageOptions.of(settings), settings.count(Option.KEEP), settings.atLeastOne(Option.KEEP_FAST),
                settings.duration(Option.DRAIN_TIMEOUT), tiers.local() ? hosts : ownOf(job)));
    }

    /** Copies what a life has left to the next one, where none comes. */
    static void finish(Settings settings, String job) throws InterruptedException {
        Optional<Drain> drain = start(settings, job);
        if (drain.isPresent()) {
            drain.get().close();
        }
    }

    /** Of a job of one host. @param job its name. @param directory of its checkpoints */
    static Keeping keeping(Settings settings, String job, Path directory, Optional<Drain> drain) {
        return keeping(settings, job, directory, drain, Optional.empty());
    }

    /** The same. @param parts where each host of several has its own */
    static Keeping keeping(Settings settings, String job, Path directory, Optional<Drain> drain, Optional<HostParts> parts) {
        if (drain.isPresent()) {
            Drain tiered = drain.get();
            return new Keeping(directory, tiered::beforeNumber, tiered::ask, parts, tiered.damage());
        }
        Damage damage = new Damage();
        return new Keeping(directory, () -> { }, new Pruning(settings, directory, entry -> isOf(entry, job), damage), parts, damage);
    }

    /** A directory that all hosts of a job share: files on its file system are one file for all of them. Empty: that of the checkpoints. */
    static Optional<Path> shared(Settings settings) {
        return Tiers.of(settings).filter(Tiers::local).map(tiers -> tiers.slow().path());
    }

    /** Where each host of a job of several has the parts of checkpoints that it takes; empty: all write to {@link #directory}. @param job its name */
    static Optional<HostParts> parts(Settings settings, String job) {
        return Tiers.of(settings).filter(Tiers::local).map(tiers -> {
            Path fast = tiers.fast().path();
            if (fast.getParent() == null) {
                throw new Failure(ExitCode.USAGE, tiers.format() + ": the fast tier of each host has to be a directory below another one");
            }
            if (job.equals(ImageNames.LOCK) || job.equals(ImageNames.SEQUENCE) || ImageNames.id(fast.resolve(job)).isPresent()) {
                throw new Failure(ExitCode.USAGE, "a job with " + tiers.format() + " cannot have the name " + job + ", which something else has in " + fast + ": give another --name");
            }
            return PartHosts.parts(fast, job);
        });
    }
}
