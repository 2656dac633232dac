package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A checkpoint that is given up is closed by who writes it and by who gives it up, at the same time. */
@Timeout(180)
class ClosedByTwoTest {
    private static final int CLOSERS = 4, ROUNDS = 50;

    @Test
    void itIsClosedOnce() throws Exception {
        try (Target target = Target.feature("threads", Target.LIBRARY);
                ExecutorService closers = Executors.newFixedThreadPool(CLOSERS)) {
            for (int round = 0; round < ROUNDS; round++) {
                Capture capture = Capture.take(target.request());
                CyclicBarrier together = new CyclicBarrier(CLOSERS);
                List<Future<?>> all = new ArrayList<>();
                for (int i = 0; i < CLOSERS; i++) {
                    all.add(closers.submit(() -> {
                        together.await();
                        capture.close();
                        assertEquals(List.of(target.pid), target.processes(), "no snapshot is left when it is closed");
                        return null;
                    }));
                }
                for (Future<?> one : all) {
                    one.get();
                }
            }
        }
    }
}
