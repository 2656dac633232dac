package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Predicate;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.store.Damage;
import org.udckpt.store.ImageTrust;
import org.udckpt.store.Keys;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Messages;

/** What becomes of a job's older checkpoints, where all are in one directory: the newest {@code keep} stay. */
public final class DirectoryRetention implements Runnable {
    private final Settings settings;
    private final Path directory;
    private final Predicate<Catalogue.Entry> own;
    private final Damage damage;

    /**
     * @param own    says of a complete one whether it is the job's: others may have theirs in the same directory
     * @param damage is told when the newest turns out to be damaged
     */
    public DirectoryRetention(Settings settings, Path directory, Predicate<Catalogue.Entry> own, Damage damage) {
        this.settings = settings;
        this.directory = directory;
        this.own = own;
        this.damage = damage;
    }

    /** A failure to prune does not make the new checkpoint worth less. */
    @Override
    public void run() {
        int keep = settings.count(Option.KEEP);
        if (keep == 0) {
            return;
        }
        try {
            ImageKey key = Keys.user(settings);
            new Catalogue(directory, key, ImageTrust.storage(settings)).prune(keep, own,
                    newest -> damage.readWhole(newest.directory(), key));
        } catch (IOException | RuntimeException e) {
            Messages.error("old checkpoints are kept: " + e.getMessage(), e);
        }
    }
}
