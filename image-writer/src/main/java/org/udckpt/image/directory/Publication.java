package org.udckpt.image.directory;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.manifest.ManifestFile;
import org.udckpt.image.storage.StorageIo;

/** The moment from which on a checkpoint exists. */
public final class Publication {
    private Publication() {}

    /**
     * Gives {@code manifest.new} its name, durably. What the checkpoint is based on is looked at under the same lock:
     * who removes checkpoints holds it too, so that no base goes between the look and the name, nor after an older look
     * around.
     *
     * @throws org.udckpt.image.ImageError when a base is gone or is another checkpoint now; nothing was renamed then
     */
    public static void publish(Path checkpoint, Manifest manifest, ImageKey key, StorageIo io) throws IOException {
        try (Closeable _ = io.lock(checkpoint.resolveSibling(ImageNames.LOCK))) {
            for (Manifest.Base base : manifest.bases()) {
                ManifestFile.base(checkpoint, base, key, io);
            }
            io.rename(checkpoint.resolve(ImageNames.MANIFEST_TEMPORARY), checkpoint.resolve(ImageNames.MANIFEST));
            io.syncDirectory(checkpoint);
        }
    }
}
