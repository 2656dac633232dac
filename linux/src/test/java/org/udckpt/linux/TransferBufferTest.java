package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Each thread has a buffer for itself, though two lie in one huge page. */
class TransferBufferTest {
    private static final int THREADS = 5;

    @Test
    void noTwoThreadsShareOne() throws Exception {
        CountDownLatch filled = new CountDownLatch(THREADS);
        List<Future<?>> threads = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(THREADS)) {
            for (int i = 0; i < THREADS; i++) {
                byte mine = (byte) (i + 1);
                threads.add(executor.submit(() -> {
                    MemorySegment buffer = TransferBuffer.own();
                    assertSame(buffer, TransferBuffer.own());
                    assertEquals(TransferBuffer.BYTES, buffer.byteSize());
                    assertEquals(0, buffer.address() % TransferBuffer.BYTES);
                    buffer.fill(mine);
                    filled.countDown();
                    filled.await();
                    for (long at = 0; at < buffer.byteSize(); at++) {
                        assertEquals(mine, buffer.get(ValueLayout.JAVA_BYTE, at));
                    }
                    return null;
                }));
            }
            for (Future<?> thread : threads) {
                thread.get();
            }
        }
    }
}
