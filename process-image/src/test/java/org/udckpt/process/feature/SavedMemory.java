package org.udckpt.process.feature;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.udckpt.process.model.MemorySource;

/** A copy of a memory source in this process: the test's image. */
final class SavedMemory implements MemorySource {
    private final long id;
    private final boolean process;
    private final long[] extents;
    private final MemorySegment[] bytes;

    SavedMemory(MemorySource source, Arena arena) {
        id = source.id();
        process = source.process();
        extents = source.extents().clone();
        bytes = new MemorySegment[extents.length / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = arena.allocate(extents[2 * i + 1] - extents[2 * i], 4096);
            source.read(extents[2 * i], bytes[i]);
        }
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public boolean process() {
        return process;
    }

    @Override
    public long[] extents() {
        return extents.clone();
    }

    @Override
    public void read(long offset, MemorySegment target) {
        for (int i = 0; i < bytes.length; i++) {
            if (offset >= extents[2 * i] && offset + target.byteSize() <= extents[2 * i + 1]) {
                MemorySegment.copy(bytes[i], offset - extents[2 * i], target, 0, target.byteSize());
                return;
            }
        }
        throw new IllegalArgumentException("%s %d has no extent with %#x + %d: %s".formatted(process ? "process" : "object", id, offset,
                target.byteSize(), Arrays.toString(extents)));
    }
}
