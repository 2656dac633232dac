package org.udckpt.image;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Buffers of {@link Slot#BYTES} for the slots in flight, the one given back last handed out first: as long as the disk keeps
 * up, a few of them, still in the processor's caches, serve a job of any size. There are never more than slots in the ring.
 */
final class PageBuffers {
    /** One buffer, as the two interfaces that work on it see it. */
    record PageBuffer(MemorySegment memory, ByteBuffer view) {}

    private final Arena arena;
    private final Deque<PageBuffer> free = new ArrayDeque<>();

    PageBuffers(Arena arena) {
        this.arena = arena;
    }

    PageBuffer take() {
        synchronized (free) {
            PageBuffer last = free.pollLast();
            if (last != null) {
                return last;
            }
        }
        MemorySegment memory = arena.allocate(Slot.BYTES, Range.PAGE);
        return new PageBuffer(memory, memory.asByteBuffer());
    }

    void giveBack(PageBuffer buffer) {
        synchronized (free) {
            free.addLast(buffer);
        }
    }
}
