package org.udckpt.image.write;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.udckpt.image.storage.DeviceMemory;

/**
 * Buffers of {@link Slot#BYTES} for the slots in flight, the one given back last handed out first: as long as the disk
 * keeps up, a few of them, still in the processor's caches, serve a job of any size.
 */
final class PageBuffers {
    /** One buffer, as the two interfaces that work on it see it. */
    record PageBuffer(MemorySegment memory, ByteBuffer view) {}

    private final MemorySegment all;
    private final Deque<PageBuffer> free = new ArrayDeque<>();
    private int made;

    /** @param most buffers at once */
    PageBuffers(Arena arena, int most) throws IOException {
        all = DeviceMemory.map(arena, (long) most * Slot.BYTES);
    }

    PageBuffer take() {
        synchronized (free) {
            PageBuffer last = free.pollLast();
            if (last != null) {
                return last;
            }
            MemorySegment memory = all.asSlice((long) made++ * Slot.BYTES, Slot.BYTES);
            return new PageBuffer(memory, memory.asByteBuffer());
        }
    }

    void giveBack(PageBuffer buffer) {
        synchronized (free) {
            free.addLast(buffer);
        }
    }
}
