package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.nio.file.Path;
import org.udckpt.image.ImageError;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.History;
import org.udckpt.image.write.WriteMeter;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.store.CheckpointHold;
import org.udckpt.store.Damage;
import org.udckpt.store.FormSettings;
import org.udckpt.store.ImageTrust;
import org.udckpt.store.Keys;
import org.udckpt.store.Tiers;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * The checkpoints of a job as they follow each other: which of them hold everything, and which only what changed since.
 * For one thread at a time.
 */
final class ImageChain implements AutoCloseable {
    private final Settings settings;
    private final Path directory;
    private final WriterOptions options;
    private final BeforeNumber beforeNumber;
    private final Damage damage;
    private final FileNumbers files = new FileNumbers();
    private final CheckpointHold newest = new CheckpointHold();
    private History history;
    private int sinceFull;

    /**
     * @param directory of all the job's checkpoints; made when it is not there
     * @param damage    what was found to be wrong with those that are there
     */
    ImageChain(Settings settings, Path directory, WriterOptions options, BeforeNumber beforeNumber, Damage damage) {
        this.settings = settings;
        this.directory = directory;
        this.options = options;
        this.beforeNumber = beforeNumber;
        this.damage = damage;
    }

    /** Removes what earlier agents of a job left half written. */
    static void clean(Settings settings, Path directory) throws IOException {
        StorageIo storage = ImageTrust.storage(settings);
        if (storage.hasDirectory(directory)) {
            new Catalogue(directory, Keys.user(settings), storage).clean().forEach(entry -> Messages.info("removed "
                    + entry.name() + ", whose writer is dead"));
        }
    }

    /**
     * Begins the next one, which {@code meter} counts: makes its directory, so that what is wrong with it is known
     * before the job is stopped.
     */
    CheckpointWriter begin(WriteMeter meter) {
        WriterOptions metered = options.withMeter(meter);
        try {
            if (Tiers.of(settings).filter(Tiers::local).isEmpty()) {
                // else it is a disk that each host has, or that is missing
                options.storage().makeDirectories(directory.getParent());
            }
            beforeNumber.run();
            if (sinceFull >= FormSettings.fullEvery(settings)) {
                history = null;
            }
            damage.take().ifPresent(this::forget);
            if (history != null) {
                try {
                    return CheckpointWriter.create(directory, metered, history);
                } catch (ImageError gone) {
                    forget(gone.getMessage());
                }
            }
            sinceFull = 0;
            return CheckpointWriter.create(directory, metered);
        } catch (IOException e) {
            throw Failure.of("starting a checkpoint in " + directory, e);
        }
    }

    /** The newest image cannot be relied on: the next one must not be based on it. */
    private void forget(String why) {
        if (history != null) {
            Messages.warn("the next checkpoint is a full one: " + why);
            history = null;
        }
    }

    /** In all of them. */
    FileNumbers files() {
        return files;
    }

    /** {@code writer}'s checkpoint is complete; one that failed changes nothing. */
    void complete(CheckpointWriter writer) {
        history = writer.history();
        sinceFull++;
        newest.move(writer.directory());
    }

    /** No checkpoint follows in this incarnation. */
    @Override
    public void close() {
        newest.close();
    }
}
