package org.udckpt.image.storage;

import java.io.IOException;
import java.util.Objects;

/**
 * What the writing of images leaves to the job beside it.
 *
 * @param rate       of bytes to storage; all writers of a node share it
 * @param background threads that read, scan and write get storage and processors only when nobody else wants them
 *                   ({@link BackgroundThread})
 */
public record Courtesy(RateLimit rate, boolean background) {
    /** As fast as it goes. */
    public static final Courtesy NONE = new Courtesy(RateLimit.NONE, false);

    public Courtesy {
        Objects.requireNonNull(rate, "rate");
    }

    /**
     * For the first moment of a writing thread.
     *
     * @throws IOException when the system does not allow what was asked for
     */
    public void begin() throws IOException {
        if (background) {
            BackgroundThread.become();
        }
    }
}
