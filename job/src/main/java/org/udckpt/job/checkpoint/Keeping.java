package org.udckpt.job.checkpoint;

import java.nio.file.Path;
import java.util.Optional;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.job.store.Damage;

/**
 * Where a job's checkpoints go, and what has to be done before and after each.
 *
 * @param directory of all of them, absolute
 * @param beforeNumber before a checkpoint gets its number
 * @param kept when one is complete: what is old may go, what is new be copied
 * @param parts where each host of a job of several has its parts for itself; empty: all are in the directory
 * @param damage what was found to be wrong with those that are there
 */
public record Keeping(Path directory, BeforeNumber beforeNumber, Runnable kept, Optional<HostParts> parts, Damage damage) {}
