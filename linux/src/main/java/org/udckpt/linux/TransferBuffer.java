package org.udckpt.linux;

import static org.udckpt.linux.LinuxConstants.MADV_HUGEPAGE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A buffer of each thread, of a MiB, for memory on its way from the image. In huge pages where the system gives any,
 * two threads to a page: a device that puts something there is given one place, and not 256 that the kernel pins and
 * lists one by one.
 */
public final class TransferBuffer {
    public static final int BYTES = 1 << 20;
    private static final long HUGE = 2 << 20;
    private static final ThreadLocal<MemorySegment> OWN = ThreadLocal.withInitial(TransferBuffer::next);

    /** The second half of the last page; null: none is left. */
    private static MemorySegment half;

    private TransferBuffer() {}

    /** This thread's. */
    public static MemorySegment own() {
        return OWN.get();
    }

    private static synchronized MemorySegment next() {
        MemorySegment next = half;
        if (next == null) {
            MemorySegment page = page();
            next = page.asSlice(0, BYTES);
            half = page.asSlice(BYTES);
        } else {
            half = null;
        }
        return next;
    }

    private static MemorySegment page() {
        MemorySegment space = MappedMemory.anonymous(Arena.ofAuto(), 2 * HUGE, "get 4 MiB of memory for a buffer");
        MemorySegment page = space.asSlice(-space.address() & HUGE - 1, HUGE);
        Syscall.call(Syscall.MADVISE, page.address(), HUGE, MADV_HUGEPAGE); // small pages do as well
        return page;
    }
}
