package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.ProcessMemory;

/** A failed checkpoint gives its copies back while its readers are still at them: they fail, and the agent does not. */
@Timeout(60)
class ContentCopyTest {
    private static final int PAGE = 4096, BYTES = 1 << 20, READERS = 3, ROUNDS = 50;

    @Test
    void whoStillReadsIsTold() throws Exception {
        ExecutorService readers = Executors.newFixedThreadPool(READERS);
        try (Arena arena = Arena.ofShared();
                ProcessMemory own = new ProcessMemory((int) ProcessHandle.current().pid())) {
            MemorySegment original = arena.allocate(BYTES, PAGE).fill((byte) 7);
            for (int round = 0; round < ROUNDS; round++) {
                ContentCopy copy = new ContentCopy(1, true);
                copy.memory(own, original.address(), 0, BYTES);
                CountDownLatch reading = new CountDownLatch(READERS);
                List<Future<Integer>> ends = new ArrayList<>();
                for (int i = 0; i < READERS; i++) {
                    ends.add(readers.submit(() -> readUntilClosed(copy, reading)));
                }
                assertTrue(reading.await(30, TimeUnit.SECONDS), "no reader began");
                copy.close();
                copy.close(); // as whoever gives a checkpoint up, and whoever wrote it, both do
                for (Future<Integer> end : ends) {
                    assertTrue(end.get(30, TimeUnit.SECONDS) > 0);
                }
            }
        } finally {
            readers.shutdownNow();
        }
    }

    /** How often it could be read, always whole. */
    private static int readUntilClosed(ContentCopy copy, CountDownLatch reading) {
        int count = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(BYTES, PAGE);
            while (true) {
                try {
                    copy.read(0, into.fill((byte) 0));
                } catch (IllegalStateException closed) {
                    return count;
                }
                assertEquals(7, into.get(ValueLayout.JAVA_BYTE, 0));
                assertEquals(7, into.get(ValueLayout.JAVA_BYTE, BYTES - 1));
                if (count++ == 0) {
                    reading.countDown();
                }
            }
        }
    }

    @Test
    void whatWasForgottenIsInNoExtent() {
        try (Arena arena = Arena.ofConfined(); ContentCopy copy = new ContentCopy(1, true);
                ProcessMemory own = new ProcessMemory((int) ProcessHandle.current().pid())) {
            MemorySegment original = arena.allocate(3 * PAGE, PAGE).fill((byte) 7);
            for (int i = 0; i < 3; i++) {
                copy.memory(own, original.address() + i * PAGE, i * PAGE, PAGE);
            }
            copy.remove(PAGE, 2 * PAGE);
            MemorySegment into = arena.allocate(PAGE);
            assertFalse(copy.tryRead(PAGE, into));
            assertTrue(copy.tryRead(2 * PAGE, into));
            assertEquals(7, into.get(ValueLayout.JAVA_BYTE, PAGE - 1));
            copy.remove(0, 3 * PAGE);
            assertTrue(copy.empty());
            assertThrows(IndexOutOfBoundsException.class, () -> copy.read(0, into));
        }
    }

    /** The rule behind it: memory that Java code reads goes with an arena, which knows of its readers. */
    @Test
    void nothingElseUnmapsMemoryOfTheAgent() throws Exception {
        Path modules = Path.of("..");
        List<String> own = new ArrayList<>();
        try (Stream<Path> files = Files.walk(modules)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".java")).toList()) {
                if (file.toString().contains("src/main")
                        && Files.readString(file).contains("Syscall.call(Syscall.MUNMAP")) {
                    own.add(file.getFileName().toString());
                }
            }
        }
        own.sort(null);
        assertEquals(List.of("AddressSpace.java", // a page that it has asked for to know whether it is free
                "FileCopies.java", // which only the kernel reads
                "MappedMemory.java"), own);
    }
}
