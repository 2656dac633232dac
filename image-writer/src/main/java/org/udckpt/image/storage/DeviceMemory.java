package org.udckpt.image.storage;

import static org.udckpt.linux.LinuxConstants.MADV_HUGEPAGE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MappedMemory;
import org.udckpt.linux.Syscall;

/**
 * Memory for what is on its way to or from storage, by mmap(2). Unlike an arena's it costs nothing until it is used (an
 * arena fills with zeros what it allocates), and it goes back to the system at once (malloc keeps pieces of a MiB for
 * later, in a heap for each thread).
 *
 * <p>It is in huge pages where the system gives any: what is transferred with O_DIRECT is then one place in memory for
 * the device, in place of 256 a MiB, which the kernel would pin and list one by one (bench/image, bench/restart: a
 * virtual disk reads twice as fast).
 */
public final class DeviceMemory {
    private static final long HUGE = 2 << 20;
    private static final int PIECE = 1 << 20;
    /** The second half of a huge page whose first one is {@link #piece} of somebody; null: none is left. */
    private static MemorySegment half;

    private DeviceMemory() {}

    /**
     * Zeros, aligned to a huge page, until {@code arena} is closed.
     *
     * @throws IOException when the system has not so much
     */
    public static MemorySegment map(Arena arena, long bytes) throws IOException {
        long whole = bytes + HUGE - 1 & -HUGE; // a part of a huge page is none
        MemorySegment space;
        try {
            space = MappedMemory.anonymous(arena, whole + HUGE, "mmap");
        } catch (LinuxError e) {
            throw new IOException("no memory for " + bytes + " bytes of write buffers (" + e.getMessage()
                    + "); give a smaller --buffer", e);
        }
        MemorySegment memory = space.asSlice(-space.address() & HUGE - 1, bytes);
        Syscall.call(Syscall.MADVISE, memory.address(), whole, MADV_HUGEPAGE, 0, 0, 0); // small pages do as well
        return memory;
    }

    /** A MiB, for as long as somebody holds it. Two of them share a huge page. */
    public static synchronized MemorySegment piece() throws IOException {
        MemorySegment piece = half;
        if (piece == null) {
            MemorySegment page = map(Arena.ofAuto(), HUGE);
            piece = page.asSlice(0, PIECE);
            half = page.asSlice(PIECE);
        } else {
            half = null;
        }
        return piece;
    }
}
