package org.udckpt.process.restore;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessMemory;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.Region;
import org.udckpt.process.trace.ElfSymbols;

/** A stand-in for this process's own vDSO, called in this process. */
class VdsoStandInTest {
    private static final int CLOCK_MONOTONIC = 1, ENOSYS = 38;
    private final Region vdso =
            StubLayout.vdso(StubLayout.of((int) ProcessHandle.current().pid()).regions()).orElseThrow();
    private final byte[] running = bytes();

    @Test
    void jumpsLeadToTheRunningFunctions() throws Throwable {
        assertTimeGoesOn(running);
    }

    @Test
    void whatTheRunningOneLacksIsASystemCall() throws Throwable {
        assertTimeGoesOn(without("clock_gettime"));
    }

    @Test
    void aQuestionForTheKindOfRandomStateIsNotAnswered() throws Throwable {
        byte[] old = withRandom();
        MemorySegment code = standIn(old, without("getrandom"));
        MethodHandle random = function(code, ElfSymbols.functions(old, "old").get("getrandom").value(),
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
        assertEquals(-ENOSYS, (long) random.invokeExact(0L, 0L, 0, 0L, -1L));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(32);
            assertEquals(32, (long) random.invokeExact(buffer.address(), 32L, 0, 0L, 144L));
            assertTrue(buffer.asByteBuffer().getLong(0) != 0 || buffer.asByteBuffer().getLong(8) != 0,
                    "32 random bytes");
        }
    }

    private void assertTimeGoesOn(byte[] here) throws Throwable {
        MemorySegment code = standIn(running, here);
        MethodHandle clock = function(code, ElfSymbols.functions(running, "old").get("__vdso_clock_gettime").value(),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment time = arena.allocate(16, 8);
            long before = System.nanoTime();
            assertEquals(0, (int) clock.invokeExact(CLOCK_MONOTONIC, time.address()));
            long then = time.get(JAVA_LONG, 0) * 1_000_000_000L + time.get(JAVA_LONG, 8);
            assertTrue(before <= then && then <= System.nanoTime(), before + " <= " + then);
        }
    }

    /** Mapped elsewhere than the original; the pages stay until the JVM ends. */
    private MemorySegment standIn(byte[] old, byte[] here) {
        byte[] code = new VdsoStandIn(null, vdso, old, here, vdso.start()).bytes();
        assertNotEquals(0, code.length);
        long page = LinuxError.check(Syscall.call(Syscall.MMAP, 0, code.length, 3, 0x22, -1, 0), "mmap");
        MemorySegment memory = MemorySegment.ofAddress(page).reinterpret(code.length);
        MemorySegment.copy(code, 0, memory, JAVA_BYTE, 0, code.length);
        LinuxError.check(Syscall.call(Syscall.MPROTECT, page, code.length, 5), "mprotect");
        return memory;
    }

    private static MethodHandle function(MemorySegment code, long at, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(MemorySegment.ofAddress(code.address() + at), type);
    }

    private byte[] bytes() {
        try (ProcessMemory memory = new ProcessMemory((int) ProcessHandle.current().pid())) {
            return memory.readBytes(vdso.start(), (int) vdso.size());
        }
    }

    /** The running vDSO, had it no such function. */
    private byte[] without(String name) {
        return renamed(name, "x" + name.substring(1));
    }

    /**
     * An old vDSO that has getrandom: in place of another function with a name of the same length, where this kernel's
     * has none.
     */
    private byte[] withRandom() {
        byte[] old = ElfSymbols.functions(running, "vDSO").containsKey("getrandom") ? running
                : renamed("clock_gettime", "getrandom\0\0\0\0");
        assertTrue(ElfSymbols.functions(old, "old").containsKey("getrandom"));
        return old;
    }

    private byte[] renamed(String name, String other) {
        byte[] copy = running.clone();
        byte[] from = (name + "\0").getBytes(StandardCharsets.ISO_8859_1);
        byte[] to = other.getBytes(StandardCharsets.ISO_8859_1);
        for (int i = 0; i + from.length <= copy.length; i++) {
            if (java.util.Arrays.equals(copy, i, i + from.length, from, 0, from.length)) {
                System.arraycopy(to, 0, copy, i, to.length);
            }
        }
        return copy;
    }
}
