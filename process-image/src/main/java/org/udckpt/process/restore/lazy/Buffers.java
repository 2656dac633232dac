package org.udckpt.process.restore.lazy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A buffer of each thread, for one piece of the image. */
final class Buffers {
    private static final ThreadLocal<MemorySegment> OWN = ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(Missing.PIECE, 4096));

    private Buffers() {}

    static MemorySegment own() {
        return OWN.get();
    }
}
