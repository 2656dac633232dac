package org.udckpt.image.catalogue;

import java.nio.file.Path;

/**
 * A place that a job's checkpoints survive in, from the fastest to the safest. What is needed to read one again is up
 * to the kind.
 */
public sealed interface Tier {
    /** {@code fast}, {@code slow}. */
    String name();

    /**
     * A directory that holds whole checkpoints; it need not be there yet.
     *
     * @param path absolute
     */
    record Directory(String name, Path path) implements Tier {}
}
