package org.udckpt.image.storage;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

/**
 * The few system calls that the JDK has no class for, by syscall(2), with the numbers of x86-64. All in one shape, which is also that of the process image's
 * {@code Syscall}: each shape costs a young JVM some 5 ms, and a restart waits for them.
 */
final class SystemCall {
    static final int MMAP = 9, MUNMAP = 11, MADVISE = 28, SETPRIORITY = 141, IOPRIO_SET = 251;

    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final long ERRNO = STATE.byteOffset(PathElement.groupElement("errno"));
    private static final MethodHandle SYSCALL = Linker.nativeLinker().downcallHandle(Linker.nativeLinker().defaultLookup().findOrThrow("syscall"),
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG), Linker.Option.captureCallState("errno"));

    private SystemCall() {}

    /** Its result, or -errno. */
    static long call(long number, long a, long b, long c, long d, long e, long f) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(STATE);
            long result = (long) SYSCALL.invokeExact(state, number, a, b, c, d, e, f);
            return result == -1 ? -state.get(JAVA_INT, ERRNO) : result;
        } catch (RuntimeException | Error failure) {
            throw failure;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }
}
