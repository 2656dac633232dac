package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeCallTest {
    /** Waits for its end. */
    private static int codeOf(long pid) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(ValueLayout.JAVA_INT);
            assertEquals(pid, Syscall.call(Syscall.WAIT4, pid, status.address(), 0, 0));
            return status.get(ValueLayout.JAVA_INT, 0) >> 8;
        }
    }

    @Test
    void theLibraryIsThereAndErrorsAreNumbers() {
        assertTrue(NativeCall.spawns());
        assertEquals(-LinuxError.EBADF, Syscall.call(Syscall.CLOSE, 1_000_000));
        assertEquals(ProcessHandle.current().pid(), Syscall.call(Syscall.GETPID));
    }

    @Test
    void callsFunctionsByAddress() {
        MemorySegment absolute = Linker.nativeLinker().defaultLookup().findOrThrow("labs");
        assertEquals(1L << 40, NativeCall.call(absolute, -(1L << 40), 0, 0));
    }

    @Test
    void startsPrograms(@TempDir Path directory) throws Exception {
        Path out = directory.resolve("ä b");
        long pid =
                NativeCall.spawn(List.of("/bin/sh", "-c", "printf %s \"$1\" >\"$2\"; exit 7", "sh", "a 'b", "" + out));
        assertEquals(7, codeOf(pid));
        assertEquals("a 'b", Files.readString(out));
    }

    @Test
    void saysWhyNot() {
        assertEquals(-LinuxError.ENOENT, NativeCall.spawn(List.of("/nowhere/at/all")));
    }

    @Test
    void randomNumbersDiffer() {
        assertNotEquals(SystemRandom.number(), SystemRandom.number());
        assertEquals(32, SystemRandom.bytes(32).length);
    }
}
