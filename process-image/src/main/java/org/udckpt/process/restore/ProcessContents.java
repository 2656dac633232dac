package org.udckpt.process.restore;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.UnaryOperator;
import org.udckpt.process.model.AddressRanges;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.Region;

/** A part of a process's private memory in the image. */
final class ProcessContents implements MemorySource {
    private final MemorySource image;
    private final UnaryOperator<long[]> part;
    private final long[] extents;

    private ProcessContents(MemorySource image, UnaryOperator<long[]> part) {
        this.image = image;
        this.part = part;
        this.extents = part.apply(image.extents());
    }

    /** @param left out */
    static ProcessContents without(MemorySource image, List<Region> left) {
        return without(image, AddressRanges.of(left, Region::start, Region::end));
    }

    /** @param left out: {start, end} pairs */
    static ProcessContents without(MemorySource image, long[] left) {
        return new ProcessContents(image, ranges -> AddressRanges.without(ranges, left));
    }

    /** @param only {start, end} pairs */
    static ProcessContents only(MemorySource image, long[] only) {
        return new ProcessContents(image, ranges -> AddressRanges.both(ranges, only));
    }

    /**
     * Without what the image holds of the kernel's own pages (the vDSO's code), and what images of older versions hold
     * of memory that begins empty.
     */
    static ProcessContents own(MemorySource image, List<Region> regions) {
        return without(image, regions.stream().filter(region -> region.kernelOwned() || region.droppable()).toList());
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
        return part.apply(image.pieces());
    }

    @Override
    public void read(long offset, MemorySegment target) {
        image.read(offset, target);
    }
}
