package org.udckpt.image.read;

/**
 * What people call the processes whose memory an image holds: in errors, since the image knows them by numbers only.
 */
@FunctionalInterface
public interface MemoryNames {
    /** By their numbers. */
    MemoryNames NUMBERS = (_, process) -> "process " + process;

    /**
     * @param node of which errors say the number and the host by themselves.
     * @param process the number of the memory on it
     */
    String of(NodeReader node, int process);
}
