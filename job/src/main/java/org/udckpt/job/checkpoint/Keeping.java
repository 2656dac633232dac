package org.udckpt.job.checkpoint;

import java.nio.file.Path;

/**
 * Where a job's checkpoints go, and what has to be done before and after each.
 *
 * @param directory of all of them, absolute
 * @param beforeNumber before a checkpoint gets its number
 * @param kept when one is complete: what is old may go, what is new be copied
 */
public record Keeping(Path directory, Checkpointer.BeforeNumber beforeNumber, Runnable kept) {}
