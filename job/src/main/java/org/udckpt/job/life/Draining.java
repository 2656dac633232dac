package org.udckpt.job.life;

import java.nio.file.Path;
import java.util.Optional;
import org.udckpt.job.checkpoint.Keeping;
import org.udckpt.job.checkpoint.Pruning;
import org.udckpt.job.config.Option;
import org.udckpt.job.config.Settings;
import org.udckpt.job.store.ImageOptions;
import org.udckpt.job.store.Tiers;
import org.udckpt.job.tiers.Drain;

/** What becomes of a job's checkpoints: with tiers they are copied to the slow one, by one process of the job; without, old ones go. */
final class Draining {
    private Draining() {}

    /** Where the next checkpoint goes. @param otherwise where there are no tiers */
    static Path directory(Settings settings, Path otherwise) {
        return Tiers.of(settings).map(tiers -> tiers.fast().path()).orElse(otherwise);
    }

    /** Begins to copy, if there are tiers; to be closed at the job's end. */
    static Optional<Drain> start(Settings settings) {
        return Tiers.of(settings).map(tiers -> Drain.start(tiers, ImageOptions.of(settings), settings.count(Option.KEEP), settings.atLeastOne(Option.KEEP_FAST),
                settings.duration(Option.DRAIN_TIMEOUT)));
    }

    /** Copies what a life has left to the next one, where none comes. */
    static void finish(Settings settings) throws InterruptedException {
        Optional<Drain> drain = start(settings);
        if (drain.isPresent()) {
            drain.get().close();
        }
    }

    /** @param directory of the job's checkpoints */
    static Keeping keeping(Settings settings, Path directory, Optional<Drain> drain) {
        return drain.map(tiered -> new Keeping(directory, tiered::beforeNumber, tiered::ask))
                .orElseGet(() -> new Keeping(directory, () -> { }, new Pruning(settings, directory)));
    }
}
