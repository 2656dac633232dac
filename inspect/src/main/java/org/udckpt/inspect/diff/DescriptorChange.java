package org.udckpt.inspect.diff;

import org.udckpt.inspect.view.KernelObjects.Named;

/**
 * A descriptor that is not what it was.
 *
 * @param older what it named; null: it was not open
 * @param newer what it names; null: it is closed
 */
public record DescriptorChange(Change change, int fd, Named older, Named newer) {
    /** REPLACED: it names something else; MOVED: the same file at another position. */
    public enum Change {
        OPENED, CLOSED, REPLACED, MOVED
    }
}
