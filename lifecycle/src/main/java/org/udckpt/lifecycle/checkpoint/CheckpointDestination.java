package org.udckpt.lifecycle.checkpoint;

import java.nio.file.Path;
import java.util.Optional;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.store.Damage;

/**
 * Where a job's checkpoints go, and what is done before and after each.
 *
 * @param directory    directory of all checkpoints, absolute
 * @param beforeNumber runs before a checkpoint gets its number
 * @param onComplete   runs when a checkpoint is complete: removes old ones, copies the new one to the slow tier
 * @param parts        the directory in which each host of several keeps its own part; empty: all parts are in
 *                     {@code directory}
 * @param damage       the damage that was found in existing checkpoints
 */
public record CheckpointDestination(
        Path directory, BeforeNumber beforeNumber, Runnable onComplete, Optional<HostParts> parts, Damage damage) {}
