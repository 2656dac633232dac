package org.udckpt.process.restore;

import java.util.Map;
import org.udckpt.process.restore.lazy.Filling;

/**
 * A job that runs again.
 *
 * @param hostPids pid of each process in its namespace -> its pid here
 * @param filling the memory that is still coming in; its sources must stay open until it has ended
 */
public record Restored(Map<Integer, Integer> hostPids, Filling filling) {}
