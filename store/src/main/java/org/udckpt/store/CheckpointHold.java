package org.udckpt.store;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.udckpt.image.ImageNames;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.support.report.Messages;

/**
 * The checkpoint that a running job would go back to, and that its next one may be based on. {@code udckpt remove} and
 * {@code udckpt prune} leave it alone as long as it is held. Thread-safe.
 */
public final class CheckpointHold implements AutoCloseable {
    private Closeable held;
    private boolean closed;

    /** Holds nothing yet. */
    public CheckpointHold() {}

    public static CheckpointHold on(Path checkpoint) {
        CheckpointHold hold = new CheckpointHold();
        hold.move(checkpoint);
        return hold;
    }

    /**
     * Holds this one from now on, and no longer the one before. A checkpoint that cannot be held is as good as before,
     * and the job goes on.
     */
    public synchronized void move(Path checkpoint) {
        if (closed) {
            return;
        }
        Closeable before = held;
        held = null;
        try {
            held = LocalStorage.INSTANCE.hold(checkpoint.resolve(ImageNames.MANIFEST));
        } catch (IOException e) {
            Messages.warn("'udckpt remove' cannot see that this job needs " + checkpoint + ": " + e.getMessage());
        }
        release(before);
    }

    private static void release(Closeable hold) {
        try {
            if (hold != null) {
                hold.close();
            }
        } catch (IOException e) {
            Messages.debugTrace("letting go of a checkpoint", e);
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        release(held);
        held = null;
    }
}
