package org.udckpt.image.write;

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
 * Memory by mmap(2). Unlike an arena's it costs nothing until it is used (an arena fills with zeros what it allocates), and it goes
 * back to the system at once (malloc keeps pieces of a MiB for later, in a heap for each thread).
 */
final class AnonymousMemory {
    private static final int READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle MAP = LINKER.downcallHandle(LINKER.defaultLookup().find("mmap").orElseThrow(),
            FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle UNMAP = LINKER.downcallHandle(LINKER.defaultLookup().find("munmap").orElseThrow(),
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));

    private AnonymousMemory() { }

    /** Zeros, aligned to a page, until {@code arena} is closed. @throws IOException when the system has not so much */
    static MemorySegment map(Arena arena, long bytes) throws IOException {
        try {
            MemorySegment at = (MemorySegment) MAP.invokeExact(MemorySegment.NULL, bytes, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0L);
            if (at.address() == -1) {
                throw new IOException("no memory for " + bytes + " bytes of pages on their way to storage (mmap); a smaller --buffer takes less");
            }
            return at.reinterpret(bytes, arena, AnonymousMemory::unmap);
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("mmap threw", e);
        }
    }

    private static void unmap(MemorySegment memory) {
        try {
            int ignored = (int) UNMAP.invokeExact(memory, memory.byteSize());
        } catch (Throwable e) {
            throw new AssertionError("munmap threw", e);
        }
    }
}
