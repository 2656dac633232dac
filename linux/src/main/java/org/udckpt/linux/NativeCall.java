package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.List;

/**
 * Calls of C functions by their addresses, and system calls. By JNI (agent_native.c), where libudckpt-agent.so is: to
 * link a function by java.lang.foreign, a young JVM makes some twenty classes. Else by java.lang.foreign.
 */
@SuppressWarnings("restricted") // native code is reached here and by java.lang.foreign alone: --enable-native-access
public final class NativeCall {
    private static final boolean LOADED = load();

    private NativeCall() {}

    /** Linked where the library is not. */
    private static final class Linked {
        private static final Linker LINKER = Linker.nativeLinker();
        private static final StructLayout STATE = Linker.Option.captureStateLayout();
        private static final long ERRNO = STATE.byteOffset(PathElement.groupElement("errno"));
        private static final MethodHandle SYSTEM =
                LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow("syscall"),
                        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                                JAVA_LONG, JAVA_LONG),
                        Linker.Option.captureCallState("errno"));
        private static final MethodHandle FUNCTION = LINKER.downcallHandle(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG,
                JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        private static final ThreadLocal<MemorySegment> STATES =
                ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(STATE));

        static long system(long number, long a, long b, long c, long d, long e, long f) throws Throwable {
            MemorySegment state = STATES.get();
            long result = (long) SYSTEM.invokeExact(state, number, a, b, c, d, e, f);
            return result == -1 ? -state.get(JAVA_INT, ERRNO) : result;
        }

        static long function(long address, long a, long b, long c, long d, long e, long f) throws Throwable {
            return (long) FUNCTION.invokeExact(MemorySegment.ofAddress(address), a, b, c, d, e, f);
        }
    }

    /** It lies where the launcher or the build says. */
    private static boolean load() {
        String directory = System.getProperty("udckpt.native", "");
        if (directory.isEmpty()) {
            return false;
        }
        try {
            System.load(Path.of(directory, "libudckpt-agent.so").toAbsolutePath().toString());
            system(Syscall.GETPID, 0, 0, 0, 0, 0, 0);
            return true;
        } catch (UnsatisfiedLinkError missingOrOlder) {
            return false; // who needs it says so (Installation)
        }
    }

    /** syscall(2): the result, or {@code -errno}. */
    static long syscall(long number, long a, long b, long c, long d, long e, long f) {
        if (LOADED) {
            return system(number, a, b, c, d, e, f);
        }
        try {
            return Linked.system(number, a, b, c, d, e, f);
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    /**
     * The result of a function of at most six integers and addresses, which returns one or nothing. Memory that it is
     * given the caller keeps alive.
     */
    public static long call(MemorySegment function, long a, long b, long c, long d, long e, long f) {
        if (LOADED) {
            return function(function.address(), a, b, c, d, e, f);
        }
        try {
            return Linked.function(function.address(), a, b, c, d, e, f);
        } catch (Throwable e1) {
            throw new AssertionError("a C function threw", e1);
        }
    }

    public static long call(MemorySegment function, long a, long b, long c) {
        return call(function, a, b, c, 0, 0, 0);
    }

    /** Whether {@link #spawn} can be used. */
    public static boolean spawns() {
        return LOADED;
    }

    /**
     * Starts a program of ours, which closes all descriptors but the standard ones itself: with these and this
     * process's variables, but for LD_PRELOAD. Who calls this waits for its end.
     *
     * @param words its path and its arguments
     * @return its pid, or {@code -errno}
     */
    public static long spawn(List<String> words) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(JAVA_LONG, words.size() + 1L); // the last one is NULL
            for (int i = 0; i < words.size(); i++) {
                byte[] word = RawText.encode(words.get(i));
                MemorySegment text = arena.allocate(word.length + 1L);
                MemorySegment.copy(word, 0, text, JAVA_BYTE, 0, word.length);
                all.setAtIndex(JAVA_LONG, i, text.address());
            }
            return spawn(all.address());
        }
    }

    private static native long spawn(long words);

    private static native long system(long number, long a, long b, long c, long d, long e, long f);

    private static native long function(long address, long a, long b, long c, long d, long e, long f);
}
