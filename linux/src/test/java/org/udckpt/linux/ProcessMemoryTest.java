package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** It is closed under those who use it, and nobody reads or writes another file by its number. */
@Timeout(60)
class ProcessMemoryTest {
    private static final int ROUNDS = 200, THREADS = 3, BYTES = 1 << 16;

    @Test
    void aNumberThatIsFreeAgainIsNotUsed() throws Exception {
        int own = (int) ProcessHandle.current().pid();
        try (ExecutorService executor = Executors.newFixedThreadPool(THREADS); Arena arena = Arena.ofShared()) {
            MemorySegment place = arena.allocate(BYTES, 4096).fill((byte) 7);
            for (int round = 0; round < ROUNDS; round++) {
                ProcessMemory memory = new ProcessMemory(own);
                CountDownLatch begun = new CountDownLatch(THREADS);
                List<Future<LinuxError>> users = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    users.add(executor.submit(() -> useUntilClosed(memory, place.address(), begun)));
                }
                assertTrue(begun.await(30, TimeUnit.SECONDS));
                memory.close();
                memory.close();
                int zeros = Files.open("/dev/zero", Syscall.O_RDWR); // takes the number as soon as it is free
                for (Future<LinuxError> user : users) {
                    assertEquals(LinuxError.EBADF, user.get(30, TimeUnit.SECONDS).errno());
                }
                Files.close(zeros);
            }
        }
    }

    private static LinuxError useUntilClosed(ProcessMemory memory, long address, CountDownLatch begun) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(BYTES);
            boolean first = true;
            while (true) {
                try {
                    memory.read(address, copy);
                } catch (LinuxError closed) {
                    return closed;
                }
                assertEquals(7, copy.get(ValueLayout.JAVA_BYTE, 0));
                assertEquals(7, copy.get(ValueLayout.JAVA_BYTE, BYTES - 1));
                if (first) {
                    begun.countDown();
                    first = false;
                }
            }
        }
    }

    @Test
    void whatWasClosedSaysSo() {
        ProcessMemory memory = new ProcessMemory((int) ProcessHandle.current().pid());
        memory.close();
        LinuxError closed = assertThrows(LinuxError.class, () -> memory.readInt(0));
        assertTrue(closed.getMessage().contains("was given back"), closed.getMessage());
        assertThrows(LinuxError.class, () -> memory.readSome(0, MemorySegment.NULL));
    }
}
