package org.udckpt.image.write;

import java.util.List;
import org.udckpt.image.Range;

/**
 * Memory of a process that nobody has written to since an older checkpoint: it need not be read, where that one is what
 * a new one is based on.
 *
 * @param checkpoint its number
 * @param process the process's number there
 * @param ranges by address, not overlapping
 */
public record Unchanged(long checkpoint, int process, List<Range> ranges) {
    /** Nothing is known. */
    public static final Unchanged NOTHING = new Unchanged(0, 0, List.of());

    public Unchanged {
        ranges = List.copyOf(ranges);
    }
}
