package org.udckpt.process.kinds.base;

import java.util.Map;
import java.util.function.Consumer;

/**
 * Objects of a kind that are made in this process, in a network namespace of the job, and handed over to their
 * processes: in that in which the job was started before its clock is set, since a port may have to be waited for.
 */
public interface MadeHere extends AutoCloseable {
    /** Dry run: checks that all objects can be made. @throws RuntimeException naming one that cannot */
    void check();

    /**
     * Makes all; it may take a minute, until what the killed job has left has passed.
     *
     * @param warn told of what is not as it was
     */
    void make(Consumer<String> warn);

    /** The descriptors in this process, by their objects' ids. */
    Map<Long, Integer> made();

    @Override
    void close();
}
