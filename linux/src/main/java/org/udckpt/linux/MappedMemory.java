package org.udckpt.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory of this process by mmap(2), which goes with its arena. Nothing else of ours unmaps memory that Java code
 * reads: another thread that still does would end the whole process by a signal, where a closed arena tells it by an
 * exception.
 */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
public final class MappedMemory {
    private static final int READ_WRITE = 3, SHARED = 1, PRIVATE_ANONYMOUS = 0x22;

    private MappedMemory() {}

    /**
     * Zeros, until {@code arena} is closed.
     *
     * @param bytes a multiple of the page size
     * @param what  for an error: what cannot be done without it
     * @throws LinuxError when the system has not so much
     */
    public static MemorySegment anonymous(Arena arena, long bytes, String what) {
        return map(arena, bytes, PRIVATE_ANONYMOUS, -1, 0, what);
    }

    /**
     * The first {@code bytes} of a file, written to by whoever else maps it, until {@code arena} is closed.
     *
     * @throws LinuxError when it cannot be mapped
     */
    public static MemorySegment shared(Arena arena, int file, long bytes, String what) {
        return shared(arena, file, 0, bytes, what);
    }

    /** The same of what is mapped from {@code offset} on. */
    public static MemorySegment shared(Arena arena, int file, long offset, long bytes, String what) {
        return map(arena, bytes, SHARED, file, offset, what);
    }

    private static MemorySegment map(Arena arena, long bytes, int flags, int file, long offset, String what) {
        long address = LinuxError.check(Syscall.call(Syscall.MMAP, 0, bytes, READ_WRITE, flags, file, offset), what);
        return MemorySegment.ofAddress(address)
                .reinterpret(bytes, arena, memory -> Syscall.call(Syscall.MUNMAP, memory.address(), memory.byteSize()));
    }
}
