package org.udckpt.lifecycle.checkpoint;

import java.util.Optional;
import org.udckpt.support.report.WriteProgress;

/**
 * The coordinator of a job of several nodes, as whoever takes its checkpoints has it. From any thread; returns at once.
 */
public interface CoordinatorClient {
    /**
     * Begins a checkpoint.
     *
     * @param number its own
     * @param order  what the nodes must know of the image
     */
    void checkpoint(long number, String order);

    /** The manifest is there. @param failure why it certainly is not, or null */
    void manifest(long number, String failure);

    /**
     * How far all nodes' parts of a checkpoint are together, as of a moment ago and without a time; empty while not
     * each of them has said how much it has.
     */
    Optional<WriteProgress> written(long number);
}
