package org.udckpt.process.feature;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.SharedRange;
import org.udckpt.process.model.StoredRange;

/** A copy of a memory source in this process: the test's image. */
final class SavedMemory implements MemorySource {
    private final long id;
    private final boolean process;
    private final long[] extents;
    private final MemorySegment[] bytes;
    private final List<StoredRange> stored = new ArrayList<>();

    SavedMemory(MemorySource source, Arena arena) {
        id = source.id();
        process = source.process();
        extents = source.extents().clone();
        bytes = new MemorySegment[extents.length / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = arena.allocate(extents[2 * i + 1] - extents[2 * i], 4096);
            source.read(extents[2 * i], bytes[i]);
        }
        place(source);
    }

    /** As an image has it: {@code id} stands for the block that holds all of a process's own memory. */
    private void place(MemorySource source) {
        long[] own = source.own();
        for (int i = 0; i < own.length; i += 2) {
            stored.add(new StoredRange(own[i], own[i + 1], id, own[i]));
        }
        for (SharedRange range : source.shared()) {
            stored.add(new StoredRange(range.start(), range.end(), range.with(), range.start()));
        }
        stored.sort(Comparator.comparingLong(StoredRange::start));
    }

    @Override
    public List<StoredRange> stored() {
        return stored;
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
        throw new IllegalArgumentException(
                "%s %d has no extent with %#x + %d: %s".formatted(process ? "process" : "object", id, offset,
                        target.byteSize(), Arrays.toString(extents)));
    }
}
