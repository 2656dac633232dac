package org.udckpt.job.store;

import java.io.IOException;
import org.udckpt.image.ImageKey;
import org.udckpt.job.report.ExitCode;
import org.udckpt.job.report.Failure;

/** The user's key, which seals images. */
public final class Keys {
    private Keys() {}

    public static ImageKey user() {
        try {
            return ImageKey.ofUser(System.getenv());
        } catch (IOException e) {
            throw new Failure(ExitCode.PERMISSION, "the key that seals images: " + e.getMessage(), e);
        }
    }
}
