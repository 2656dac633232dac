package org.udckpt.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;

/**
 * What was found to be wrong with the newest checkpoints of a job, by whoever has read them: the next one must not be
 * based on those. Thread-safe.
 */
public final class Damage {
    private final AtomicReference<String> found = new AtomicReference<>();

    /**
     * Reads a checkpoint whole, before older ones go for its sake.
     *
     * @throws IOException whatever kept it from being read, which is remembered here
     */
    public void readWhole(Path checkpoint, ImageKey key) throws IOException {
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, key).naming(MemoryOwners::of)) {
            reader.verify((_, _) -> {});
        } catch (IOException e) {
            found(e);
            throw e;
        }
    }

    /** A checkpoint could not be read. */
    public void found(IOException problem) {
        found.set(problem.getMessage());
    }

    /** A message about damage found since the last call; empty: none. */
    public Optional<String> take() {
        return Optional.ofNullable(found.getAndSet(null));
    }
}
