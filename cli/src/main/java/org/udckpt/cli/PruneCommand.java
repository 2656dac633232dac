package org.udckpt.cli;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.udckpt.image.ImageError;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.store.CheckpointUsers;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.MemoryOwners;
import org.udckpt.store.Tiers;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code udckpt prune}: of each job in a directory the newest checkpoints stay; the newest is read whole before an
 * older one goes.
 */
@Command(name = "prune",
        description = "Remove all but the newest checkpoints of each job, and the remains of interrupted writes.")
final class PruneCommand implements Callable<Integer> {
    @Mixin
    private RemovalOptions options;

    @Option(names = "--keep", paramLabel = "K", required = true,
            description = "keep the newest K complete checkpoints of each job in each tier, at least 1")
    private int keep;

    @Option(names = "--older-than", paramLabel = "DURATION",
            description = "remove only checkpoints older than this, e.g. 12h, 7d")
    private String olderThan;

    @Parameters(paramLabel = "DIR", description = "a directory of checkpoints, or tiers fast=DIR,slow=DIR")
    private String directory;

    @Override
    public Integer call() {
        if (keep < 1) {
            throw new Failure(ExitCode.USAGE,
                    "--keep " + keep + ": give 1 or more ('udckpt remove' removes the last checkpoint)");
        }
        Instant before = olderThan == null ? null : before();
        Settings settings = options.settings();
        ImageKey key = options.key(settings);
        if (ImageLocation.isNamed(directory)) {
            throw new Failure(ExitCode.USAGE, directory + " is a single checkpoint: give its directory, or"
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
            if (entry.problem() instanceof ImageError.NoKey) {
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

    /** The newest checkpoint of that job that is complete on the slow tier. */
    private static Catalogue.Entry copy(Catalogue.Entry newest, Optional<Tiers> tiers, ImageKey key) {
        return tiers.stream()
                .flatMap(two -> ImageLocation.list(two, key).stream())
                .flatMap(entry -> entry.complete().stream())
                .map(place -> place.entry())
                .filter(entry -> !entry.onHosts() && job(entry).equals(job(newest)))
                .reduce((_, later) -> later)
                .orElseThrow(() -> new Failure(ExitCode.UNSUPPORTED, newest.directory() + ": its parts are only on its"
                        + " hosts,"
                        + " and no checkpoint of job " + job(newest) + " is on a slow tier: give both tiers"
                        + " (local=DIR,slow=DIR), and let the job copy one first (docs/user/checkpoints.md)"));
    }
}
