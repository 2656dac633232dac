package org.udckpt.process.model;

/**
 * Memory of a process that nobody has written to since a checkpoint.
 *
 * @param checkpoint its number; 0: nothing is known
 * @param process the process's number there
 * @param unchanged {start, end} pairs
 */
public record Unwritten(long checkpoint, int process, long[] unchanged) {
    public static final Unwritten NOTHING = new Unwritten(0, 0, new long[0]);
}
