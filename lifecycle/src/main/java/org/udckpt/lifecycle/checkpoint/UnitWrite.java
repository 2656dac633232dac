package org.udckpt.lifecycle.checkpoint;

import org.udckpt.support.report.WriteProgress;

/**
 * A unit's part of a checkpoint as it is being written, or was until a moment ago.
 *
 * @param checkpoint its number
 */
public record UnitWrite(long checkpoint, WriteProgress progress) {}
