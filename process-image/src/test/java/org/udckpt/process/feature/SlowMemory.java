package org.udckpt.process.feature;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.StoredRange;

/** An image on a slow disk: what is fetched in advance comes slower still, so that a job meets much that is missing. */
record SlowMemory(MemorySource image, long pageNs) implements MemorySource {
    private static final int IN_ADVANCE = 20;

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
        return image.extents();
    }

    @Override
    public List<StoredRange> stored() {
        return image.stored();
    }

    @Override
    public void read(long offset, MemorySegment target) {
        boolean inAdvance = Thread.currentThread().getName().startsWith("udckpt-prefetch");
        LockSupport.parkNanos((inAdvance ? IN_ADVANCE : 1) * pageNs * target.byteSize() / 4096);
        image.read(offset, target);
    }
}
