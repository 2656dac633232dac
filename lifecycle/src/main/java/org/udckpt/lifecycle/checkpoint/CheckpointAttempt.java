package org.udckpt.lifecycle.checkpoint;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/**
 * A checkpoint whose copy has been made, and whose image is to be written. Closing it removes an image that is not
 * complete.
 */
interface CheckpointAttempt extends AutoCloseable {
    /** The checkpoint's name. */
    String id();

    /**
     * Returns when the image is durable.
     *
     * @param end null, or what to run then, whatever fails afterwards: the ranks of a last checkpoint stand still
     */
    CompleteCheckpoint write(Runnable end) throws IOException, InterruptedException;

    /** Gives the checkpoint up. The future completes when nothing is left of it. */
    CompletableFuture<Void> abandon();

    /** Does not throw: what cannot be removed is reported. */
    @Override
    void close();
}
