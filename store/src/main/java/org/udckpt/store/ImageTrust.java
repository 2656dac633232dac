package org.udckpt.store;

import java.nio.file.Path;
import org.udckpt.image.ImageError;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Trust;
import org.udckpt.linux.UntrustedPath;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.Failure;

/**
 * Which directories a job's checkpoints may be in: those that nobody else can exchange, or a group's that was allowed
 * (docs/operator/security.md).
 */
public final class ImageTrust {
    private ImageTrust() {}

    /** As the settings want it. */
    public static Trust of(Settings settings) {
        return settings.truth(Option.SHARED_DIR) ? Trust.GROUP : Trust.OWN;
    }

    /** For whatever writes or removes checkpoints. */
    public static StorageIo storage(Settings settings) {
        return LocalStorage.of(of(settings));
    }

    /**
     * Looks at a directory and at all above it, as far as they are there. What is made below them later is the user's
     * own.
     *
     * @throws Failure 77, naming the one that is not to be trusted
     */
    public static void check(Settings settings, Path directory) {
        Trust trust = of(settings);
        for (Path existing = directory.toAbsolutePath().normalize(); existing != null;
                existing = existing.getParent()) {
            try {
                Folder.reach(existing.toString(), trust).close();
                return;
            } catch (LinuxError e) {
                if (e.errno() != LinuxError.ENOENT) { // else it is not there yet
                    throw Failure.of("reading " + directory, e);
                }
            } catch (UntrustedPath e) {
                throw Failure.of("checkpoints in " + directory, new ImageError.Untrusted(directory, e));
            }
        }
    }
}
