package org.udckpt.inspect.diff;

import org.udckpt.process.model.SharedMemory;

/**
 * A shared object in two checkpoints.
 *
 * @param older null: it is new
 * @param newer null: it is gone
 */
public record SharedDiff(SharedMemory older, SharedMemory newer, PageCounts pages) {
    /** The newer one, or the one that is gone. */
    public SharedMemory present() {
        return newer != null ? newer : older;
    }
}
