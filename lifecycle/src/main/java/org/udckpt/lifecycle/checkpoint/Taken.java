package org.udckpt.lifecycle.checkpoint;

import org.udckpt.lifecycle.interval.CheckpointCost;

/**
 * A checkpoint that is complete.
 *
 * @param begin when the job was stopped, in System.nanoTime()'s terms
 */
public record Taken(String id, long begin, CheckpointCost cost) {}
