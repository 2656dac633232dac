package org.udckpt.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.Locale;
import org.udckpt.image.FileErrors;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.catalogue.VerifiedMark;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.store.ImageLocation;
import org.udckpt.store.OpenImage;
import org.udckpt.store.StateTables;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * A checkpoint was read whole.
 *
 * @param bytes of its files
 * @param nanoseconds that it took
 * @param failure what is wrong; null: nothing
 */
record Verification(ImageLocation location, long bytes, int files, long nanoseconds, Failure failure) {
    /** Verifies a checkpoint; an incomplete one is reported as incomplete. */
    static Verification of(ImageLocation location, ImageKey key) {
        long begin = System.nanoTime();
        try (CheckpointReader reader = location.open(key); ReadView view = new ReadView("verify " + location.name())) {
            reader.verify(view::show);
            OpenImage.read(reader, StateTables.readJob(reader));
            mark(location.entry());
            return new Verification(location, reader.manifest().storedBytes(), reader.manifest().files().size(),
                    System.nanoTime() - begin, null);
        } catch (IOException | RuntimeException e) {
            Failure failure = Failure.of("verifying " + location.name(), e);
            if (failure.code() == ExitCode.CORRUPT || failure.code() == ExitCode.IO) {
                unmark(location.entry(), failure);
            }
            return new Verification(location, 0, 0, System.nanoTime() - begin, failure);
        }
    }

    /** Also of an older one that it is based on, where the damage is in that. */
    private static void unmark(Catalogue.Entry entry, Failure failure) {
        try {
            new VerifiedMark(LocalStorage.INSTANCE).remove(entry.directory());
            if (failure.getCause() instanceof ImageError damage && damage.file().getParent() != null
                    && ImageNames.id(damage.file().getParent()).isPresent()) {
                new VerifiedMark(LocalStorage.INSTANCE).remove(damage.file().getParent());
            }
        } catch (IOException e) {
            Messages.warn("'udckpt list' may still show the time of its last good verification: " + e.getMessage());
        }
    }

    private static void mark(Catalogue.Entry entry) {
        try {
            new VerifiedMark(LocalStorage.INSTANCE).write(entry.directory());
        } catch (IOException e) {
            Messages.warn("the image is good, but the verification could not be recorded for 'udckpt list': "
                    + FileErrors.text(e));
        }
    }

    boolean incomplete() {
        return location.entry().state() == Catalogue.State.INCOMPLETE;
    }

    /** Whether the checkpoint cannot be verified from here. */
    boolean elsewhere() {
        return location.entry().onHosts();
    }

    private long perSecond() {
        return (long) (bytes * 1e9 / Math.max(1, nanoseconds));
    }

    /** One line. */
    @Override
    public String toString() {
        return failure != null ? failure.getMessage() : location.name() + ": " + Durations.bytes(bytes) + " in "
                + files + " files verified; "
                + Durations.format(nanoseconds) + ", " + Durations.bytes(perSecond()) + "/s";
    }

    ObjectNode json() {
        ObjectNode node = JsonOutput.object().put("id", location.entry().name()).put("verified", failure == null);
        if (!location.tier().isEmpty()) {
            node.put("tier", location.tier());
        }
        if (failure == null) {
            return node.put("state", "complete").put("stored_bytes", bytes).put("files", files)
                    .put("ms", nanoseconds / 1e6).put("bytes_per_second", perSecond());
        }
        return (elsewhere() ? node.put("state", "complete").put("on_hosts", true)
                : node.put("state", incomplete() ? "incomplete" : "corrupt")).put("problem", failure.getMessage())
                .put("exit_code", failure.code().value());
    }
}
