package org.udckpt.lifecycle.job;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.Keys;
import org.udckpt.store.Tiers;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Failure;

/**
 * The complete checkpoints that a job may be restarted from: its own, and not those that others left in its directory.
 */
public final class OwnCheckpoints {
    private final Settings settings;
    private final Path directory;
    private final long before;
    private final BiPredicate<Catalogue.Entry, String> own;

    private OwnCheckpoints(Settings settings, Path directory, long before, BiPredicate<Catalogue.Entry, String> own) {
        this.settings = settings;
        this.directory = directory;
        this.before = before;
        this.own = own;
    }

    /** Checkpoints that are taken from now on. */
    public static OwnCheckpoints fromNow(Settings settings, Path directory) {
        return since(settings, directory, latest(settings, directory));
    }

    /** Checkpoints that were taken after the one of that number, whichever job took that one. */
    public static OwnCheckpoints since(Settings settings, Path directory, long before) {
        return new OwnCheckpoints(settings, directory, before,
                (entry, job) -> entry.id() > before && JobStorage.isOf(entry, job));
    }

    /** Checkpoints taken from now on, the one that the job is restarted from, and older ones of the same job. */
    public static OwnCheckpoints from(Settings settings, ImageLocation location) {
        Path directory = JobStorage.directory(settings, location.parent());
        long before = latest(settings, directory);
        return new OwnCheckpoints(settings, directory, before,
                (entry, job) -> entry.id() > before && JobStorage.isOf(entry, job)
                        || entry.id() <= location.entry().id() && job(entry).equals(job(location.entry())));
    }

    /** The newest that there was, anybody's, when the job began. */
    public long before() {
        return before;
    }

    /** What names the job in the labels of its checkpoints. */
    private static List<String> job(Catalogue.Entry entry) {
        Map<String, String> labels = entry.manifest().labels();
        return List.of(labels.getOrDefault(JobStorage.JOB, ""), labels.getOrDefault("program", ""));
    }

    private boolean hasDirectory() {
        try {
            return LocalStorage.INSTANCE.hasDirectory(directory);
        } catch (IOException e) {
            throw Failure.of("looking for checkpoints in " + directory, e);
        }
    }

    private static long latest(Settings settings, Path directory) {
        try {
            long latest = 0;
            for (Path path : Tiers.of(settings).map(tiers -> List.of(tiers.fast().path(), tiers.slow().path()))
                    .orElse(List.of(directory))) {
                latest = Math.max(latest, new Catalogue(path, Keys.user(settings)).latest()); // 0 where there is none
            }
            return latest;
        } catch (IOException e) {
            throw Failure.of("looking for checkpoints in " + directory, e);
        }
    }

    /**
     * Oldest first; each where it is read fastest.
     *
     * @param job the name under which it takes checkpoints: others may take theirs in the same place meanwhile. None
     *     that only its hosts have: the incarnation that took it has tried to copy it.
     */
    public List<ImageLocation> complete(String job) {
        ImageKey key = Keys.user(settings);
        return Tiers.of(settings)
                .map(tiers -> ImageLocation.list(tiers, key).stream().flatMap(entry -> entry.complete().stream())
                        .map(place -> ImageLocation.in(tiers, place)).toList())
                .orElseGet(() -> hasDirectory() ? ImageLocation.all(directory.toString(), key) : List.of()).stream()
                .filter(location -> location.entry().state() == Catalogue.State.COMPLETE && !location.entry().onHosts()
                        && own.test(location.entry(), job))
                .toList();
    }
}
