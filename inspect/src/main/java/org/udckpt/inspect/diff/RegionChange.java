package org.udckpt.inspect.diff;

import org.udckpt.inspect.view.RegionKind;

/**
 * A mapping that is not what it was.
 *
 * @param olderBytes its size in the older checkpoint, of all that lay in its place where some were joined; 0: new
 * @param newerBytes its size in the newer, 0: gone
 */
public record RegionChange(Change change, RegionKind kind, String name, long start, long end, long olderBytes,
        long newerBytes) {
    /** What became of it; MOVED: its borders did, its size is what it was. */
    public enum Change {
        NEW, GONE, GROWN, SHRUNK, MOVED
    }
}
