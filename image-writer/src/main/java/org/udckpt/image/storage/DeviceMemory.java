package org.udckpt.image.storage;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.udckpt.linux.Syscall;

/**
 * Memory for what is on its way to or from storage, by mmap(2). Unlike an arena's it costs nothing until it is used (an arena fills
 * with zeros what it allocates), and it goes back to the system at once (malloc keeps pieces of a MiB for later, in a heap for each thread).
 *
 * <p>It is in huge pages where the system gives any: what is transferred with O_DIRECT is then one place in memory for the device, in place
 * of 256 a MiB, which the kernel would pin and list one by one (bench/image, bench/restart: a virtual disk reads twice as fast).
 */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
public final class DeviceMemory {
    private static final int READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22, MADV_HUGEPAGE = 14;
    private static final long HUGE = 2 << 20;
    private static final int PIECE = 1 << 20;
    /** The second half of a huge page whose first one is {@link #piece} of somebody; null: none is left. */
    private static MemorySegment half;

    private DeviceMemory() {}

    /** Zeros, aligned to a huge page, until {@code arena} is closed. @throws IOException when the system has not so much */
    public static MemorySegment map(Arena arena, long bytes) throws IOException {
        long whole = bytes + HUGE - 1 & -HUGE; // a part of a huge page is none
        long all = whole + HUGE;
        long at = Syscall.call(Syscall.MMAP, 0, all, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
        if (at < 0) {
            throw new IOException("no memory for " + bytes + " bytes of pages on their way to storage (mmap: " + Errno.text((int) -at) + "); a smaller --buffer takes less");
        }
        MemorySegment memory = MemorySegment.ofAddress(at).reinterpret(all, arena, DeviceMemory::unmap).asSlice(-at & HUGE - 1, bytes);
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

    private static void unmap(MemorySegment memory) {
        Syscall.call(Syscall.MUNMAP, memory.address(), memory.byteSize(), 0, 0, 0, 0);
    }
}
