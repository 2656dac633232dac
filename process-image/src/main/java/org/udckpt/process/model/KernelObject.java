package org.udckpt.process.model;

/**
 * What a descriptor or a shared mapping stands for: one record per kernel object, however many descriptors, processes
 * and mappings share it. Ids start at 1 and are unique in an image; {@code flags} are those of open(2) (F_GETFL).
 * The record of each kind is in the folder of its kind; {@code org.udckpt.process.kinds.ObjectKinds} lists all.
 */
public interface KernelObject {
    /** The object's number in its image. */
    long id();

    /** Whether a restart has another open file in its place, which is none of the job's. */
    default boolean replaced() {
        return false;
    }

    /** Whether a restart has a descriptor of it for a while that is none of the job's. */
    default boolean openForAWhile() {
        return false;
    }

    /** A number of a descriptor that a restart needs for it, whatever the number stands for in the end; -1: none. */
    default int number() {
        return -1;
    }

    /** Descriptors beside those of the processes that a restart has for a while to make it. */
    default int spare() {
        return 0;
    }
}
