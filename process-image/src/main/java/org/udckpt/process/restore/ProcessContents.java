package org.udckpt.process.restore;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.Region;

/** A process's private memory in the image, without some of its mappings. */
final class ProcessContents implements MemorySource {
    private final MemorySource image;
    private final List<Region> left;
    private final long[] extents;

    /** @param left out */
    ProcessContents(MemorySource image, List<Region> left) {
        this.image = image;
        this.left = left;
        this.extents = rest(image.extents());
    }

    private long[] rest(long[] ranges) {
        for (Region region : left) {
            ranges = without(ranges, region);
        }
        return ranges;
    }

    /** Without what the image holds of the kernel's own pages (the vDSO's code), and what images of older versions hold of memory that begins empty. */
    static ProcessContents own(MemorySource image, List<Region> regions) {
        return new ProcessContents(image, regions.stream().filter(region -> region.kernelOwned() || region.droppable()).toList());
    }

    private static long[] without(long[] extents, Region region) {
        long[] left = new long[extents.length + 2];
        int count = 0;
        for (int i = 0; i < extents.length; i += 2) {
            count = append(left, count, extents[i], Math.min(extents[i + 1], region.start()));
            count = append(left, count, Math.max(extents[i], region.end()), extents[i + 1]);
        }
        return Arrays.copyOf(left, count);
    }

    private static int append(long[] to, int count, long start, long end) {
        if (start >= end) {
            return count;
        }
        to[count] = start;
        to[count + 1] = end;
        return count + 2;
    }

    @Override
    public long id() {
        return image.id();
    }

    @Override
    public boolean process() {
        return image.process();
    }

    @Override
    public long[] extents() {
        return extents.clone();
    }

    @Override
    public long[] pieces() {
        return rest(image.pieces());
    }

    @Override
    public void read(long offset, MemorySegment target) {
        image.read(offset, target);
    }
}
