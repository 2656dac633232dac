package org.udckpt.process.inherit;

import java.util.List;
import org.udckpt.process.model.Region;

/**
 * What a process has of its memory when it is made.
 *
 * @param regions mappings that are there: larger ones, of which the rest is to be unmapped
 * @param kept    {start, end} pairs, within those: the right bytes are there
 * @param dropped {start, end} pairs, within those: other bytes are there
 */
public record Inherited(List<Region> regions, long[] kept, long[] dropped) {
    public static final Inherited NOTHING = new Inherited(List.of(), new long[0], new long[0]);

    public boolean has(Region region) {
        return regions.contains(region);
    }
}
