package org.udckpt.lifecycle.checkpoint;

import java.util.List;
import org.udckpt.image.Manifest;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.lifecycle.interval.CheckpointCost;

/**
 * A durable checkpoint.
 *
 * @param begin   when the job was stopped, in System.nanoTime()'s terms
 * @param times   of the phases of the stop
 * @param stops   of each rank, in nanoseconds
 * @param summary one line about the write and the stop
 */
record CompleteCheckpoint(Manifest manifest, long begin, List<PhaseTime> times, List<Long> stops,
        CheckpointCost cost, String summary) {}
