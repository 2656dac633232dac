package org.udckpt.cli;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.Tier;
import org.udckpt.image.catalogue.UserRemoval;
import org.udckpt.image.key.ImageKey;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.ImageTrust;
import org.udckpt.store.Tiers;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Flags of the verbs that remove checkpoints. */
final class RemovalOptions {
    @Mixin
    private CommonOptions common;

    @Mixin
    private KeyOption encrypted;

    @Option(names = "--shared-dir",
            description = "allow a checkpoint directory that a group can write to")
    private boolean sharedDir;

    @Option(names = "--dry-run", description = "remove nothing: print what would be removed")
    private boolean dryRun;

    @Option(names = "--json", description = "print JSON, schema 1")
    private boolean json;

    boolean dryRun() {
        return dryRun;
    }

    boolean json() {
        return json;
    }

    Settings settings() {
        return common.settings().flag(org.udckpt.support.config.Option.SHARED_DIR, sharedDir ? "true" : null);
    }

    ImageKey key(Settings settings) {
        return encrypted.key(settings);
    }

    /**
     * The directories that a user names, the fastest tier first.
     *
     * @param tier null: it is the only directory
     */
    record Place(Tier.Directory tier, Path directory) {
        static Place of(Tier.Directory tier) {
            return new Place(tier, tier.path());
        }

        String name() {
            return tier == null ? "" : tier.name();
        }
    }

    /**
     * Looks at each directory, and at all above it.
     *
     * @param text without an id
     * @throws Failure 66 when there is none, 77 when one is not to be trusted
     */
    static List<Place> places(String text, Settings settings) {
        Optional<Tiers> tiers = Tiers.parse(text);
        if (tiers.isPresent()) {
            try {
                tiers.get().refuseSame();
            } catch (IOException e) {
                throw new Failure(ExitCode.USAGE, e.getMessage(), e);
            }
        }
        List<Place> places = tiers.map(two -> List.of(Place.of(two.fast()), Place.of(two.slow())))
                .orElseGet(() -> List.of(new Place(null, ImageLocation.directory(text).toAbsolutePath().normalize())));
        places.forEach(place -> ImageTrust.check(settings, place.directory()));
        List<Place> there = places.stream().filter(place -> exists(place.directory(), settings)).toList();
        if (there.isEmpty()) {
            throw new Failure(ExitCode.NOT_FOUND, "no directory " + text);
        }
        return there;
    }

    private static boolean exists(Path directory, Settings settings) {
        try {
            return ImageTrust.storage(settings).hasDirectory(directory);
        } catch (NotDirectoryException e) {
            throw new Failure(ExitCode.NOT_FOUND, "no directory " + directory, e);
        } catch (IOException e) {
            throw Failure.of("looking at " + directory, e);
        }
    }

    static UserRemoval removal(Place place, ImageKey key, Settings settings) {
        return new UserRemoval(new Catalogue(place.directory(), key, ImageTrust.storage(settings)));
    }

    static Failure failed(String what, Place place, IOException problem) {
        String where = what + " in " + place.directory();
        return problem instanceof NoSuchFileException
                ? new Failure(ExitCode.BUSY, where + ": another process has just removed it", problem)
                : Failure.of(where, problem);
    }
}
