package org.udckpt.job.checkpoint;

import org.udckpt.job.pace.CheckpointCost;

/**
 * A checkpoint that is complete.
 *
 * @param begin when the job was stopped, in System.nanoTime()'s terms
 */
public record Taken(String id, long begin, CheckpointCost cost) {}
