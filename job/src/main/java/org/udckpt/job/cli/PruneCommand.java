package org.udckpt.job.cli;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.udckpt.image.ImageError;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.job.config.Settings;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;
import org.udckpt.job.store.CheckpointUsers;
import org.udckpt.job.store.ImageLocation;
import org.udckpt.job.store.MemoryOwners;
import org.udckpt.job.store.Tiers;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code udckpt prune}: of each job in a directory the newest checkpoints stay; the newest is read whole before an
 * older one goes.
 */
@Command(name = "prune",
        description = "Remove all but the newest checkpoints of each job, and what broken-off writes have left.")
final class PruneCommand implements Callable<Integer> {
    @Mixin
    private RemovalOptions options;

    @Option(names = "--keep", paramLabel = "K", required = true,
            description = "the newest K complete checkpoints of each job stay, at least 1; in each tier")
    private int keep;

    @Option(names = "--older-than", paramLabel = "DURATION",
            description = "only those that were taken longer ago than this go, e.g. 12h, 7d")
    private String olderThan;

    @Parameters(paramLabel = "DIR", description = "a directory of checkpoints, or tiers fast=DIR,slow=DIR")
    private String directory;

    @Override
    public Integer call() {
        if (keep < 1) {
            throw new Failure(ExitCode.USAGE,
                    "--keep " + keep + ": give 1 or more (the last checkpoint goes by 'udckpt remove' alone)");
        }
        Instant before = olderThan == null ? null : before();
        Settings settings = options.settings();
        ImageKey key = options.key(settings);
        if (ImageLocation.isNamed(directory)) {
            throw new Failure(ExitCode.USAGE, directory + " is one checkpoint: give the directory that it is in, or"
                    + " remove it with 'udckpt remove'");
        }
        Optional<Tiers> tiers = Tiers.parse(directory);
        RemovalReport report = new RemovalReport(options.dryRun(), new CheckpointUsers(settings));
        List<RemovalOptions.Place> places = RemovalOptions.places(directory, settings);
        places.forEach(place -> requireKey(place, key));
        for (RemovalOptions.Place place : places.reversed()) { // what only hosts have goes for what is on slow
            try {
                report.add(place, RemovalOptions.removal(place, key, settings)
                        .prune(keep, before, PruneCommand::job, options.dryRun(), one -> readWhole(one, tiers, key)));
            } catch (IOException e) {
                report.print(options.json()); // what is gone from the other tier
                throw RemovalOptions.failed("removing old checkpoints", place, e);
            }
        }
        report.print(options.json());
        return ExitCode.DONE.value();
    }

    /** Without it nothing can be said of any checkpoint, and none would seem to be old enough. */
    private static void requireKey(RemovalOptions.Place place, ImageKey key) {
        for (Catalogue.Entry entry : ImageLocation.list(place.directory(), key)) {
            if (entry.problem() instanceof ImageError.Locked) {
                throw Failure.of("looking at the checkpoints of " + place.directory(), entry.problem());
            }
        }
    }

    private Instant before() {
        try {
            return Instant.now().minus(Settings.duration(olderThan, "--older-than"));
        } catch (ArithmeticException | java.time.DateTimeException e) {
            throw new Failure(ExitCode.USAGE, "--older-than " + olderThan + ": give a shorter duration", e);
        }
    }

    private static String job(Catalogue.Entry complete) {
        return complete.manifest().labels().getOrDefault("job", "");
    }

    /** The last good checkpoint is never lost: older ones go only for the sake of one that is as it was written. */
    private static void readWhole(Catalogue.Entry newest, Optional<Tiers> tiers, ImageKey key) throws IOException {
        Catalogue.Entry whole = newest.onHosts() ? copy(newest, tiers, key) : newest;
        try (CheckpointReader reader = CheckpointReader.open(whole.directory(), key).naming(MemoryOwners::of);
                ReadView view = new ReadView("verify " + whole.name())) {
            reader.verify(view::show);
        }
    }

    /** Of that job, the newest that is on the slow tier as a whole. */
    private static Catalogue.Entry copy(Catalogue.Entry newest, Optional<Tiers> tiers, ImageKey key) {
        return tiers.stream()
                .flatMap(two -> ImageLocation.list(two, key).stream())
                .flatMap(entry -> entry.complete().stream())
                .map(place -> place.entry())
                .filter(entry -> !entry.onHosts() && job(entry).equals(job(newest)))
                .reduce((_, later) -> later)
                .orElseThrow(() -> new Failure(ExitCode.UNSUPPORTED, newest.directory() + ": its hosts have its parts,"
                        + " and no checkpoint of job " + job(newest) + " is on a slow tier: name both tiers"
                        + " (local=DIR,slow=DIR), and have one copied first (docs/user/checkpoints.md)"));
    }
}
