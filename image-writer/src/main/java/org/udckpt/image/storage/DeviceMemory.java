package org.udckpt.image.storage;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Memory for what is on its way to or from storage, by mmap(2). Unlike an arena's it costs nothing until it is used (an arena fills
 * with zeros what it allocates), and it goes back to the system at once (malloc keeps pieces of a MiB for later, in a heap for each thread).
 *
 * <p>It is in huge pages where the system gives any: what is transferred with O_DIRECT is then one place in memory for the device, in place
 * of 256 a MiB, which the kernel would pin and list one by one (bench/image, bench/restart: a virtual disk reads twice as fast).
 */
public final class DeviceMemory {
    private static final int READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22, MADV_HUGEPAGE = 14;
    private static final long HUGE = 2 << 20;
    private static final int PIECE = 1 << 20;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle MAP = LINKER.downcallHandle(LINKER.defaultLookup().find("mmap").orElseThrow(),
            FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle UNMAP = LINKER.downcallHandle(LINKER.defaultLookup().find("munmap").orElseThrow(),
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle ADVISE = LINKER.downcallHandle(LINKER.defaultLookup().find("madvise").orElseThrow(),
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));

    /** The second half of a huge page whose first one is {@link #piece} of somebody; null: none is left. */
    private static MemorySegment half;

    private DeviceMemory() {}

    /** Zeros, aligned to a huge page, until {@code arena} is closed. @throws IOException when the system has not so much */
    public static MemorySegment map(Arena arena, long bytes) throws IOException {
        try {
            long all = bytes + HUGE;
            MemorySegment at = (MemorySegment) MAP.invokeExact(MemorySegment.NULL, all, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0L);
            if (at.address() == -1) {
                throw new IOException("no memory for " + bytes + " bytes of pages on their way to storage (mmap); a smaller --buffer takes less");
            }
            MemorySegment memory = at.reinterpret(all, arena, DeviceMemory::unmap).asSlice(-at.address() & HUGE - 1, bytes);
            int ignored = (int) ADVISE.invokeExact(memory, bytes, MADV_HUGEPAGE); // small pages do as well
            return memory;
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("mmap threw", e);
        }
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
        try {
            int ignored = (int) UNMAP.invokeExact(memory, memory.byteSize());
        } catch (Throwable e) {
            throw new AssertionError("munmap threw", e);
        }
    }
}
