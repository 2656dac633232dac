package org.udckpt.image.directory;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.udckpt.image.ImageNames;
import org.udckpt.image.storage.StorageIo;

/** Removes checkpoints so that a stop in the middle leaves an incomplete one, never one that looks whole. */
public final class CheckpointRemoval {
    private CheckpointRemoval() {}

    /**
     * The manifest goes first and durably. All else is tried in any case.
     *
     * @throws IOException the first failure, the others suppressed in it
     */
    public static void remove(Path directory, StorageIo io) throws IOException {
        List<Path> entries = io.list(directory);
        Path manifest = directory.resolve(ImageNames.MANIFEST);
        if (entries.contains(manifest)) {
            io.delete(manifest);
            io.syncDirectory(directory);
        }
        IOException failure = null;
        for (Path entry : entries) {
            if (!entry.equals(manifest)) {
                failure = attempt(entry, io, failure);
            }
        }
        failure = attempt(directory, io, failure);
        if (failure != null) {
            throw failure;
        }
    }

    private static IOException attempt(Path path, StorageIo io, IOException earlier) {
        try {
            io.delete(path);
        } catch (IOException e) {
            if (earlier == null) {
                return e;
            }
            earlier.addSuppressed(e);
        }
        return earlier;
    }
}
