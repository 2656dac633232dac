package org.udckpt.process.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Steps of several at once. */
@Timeout(60)
class SideBySideTest {
    private static final Duration PATIENCE = Duration.ofMillis(20), LONG = Duration.ofSeconds(50);

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void allStepsAreUnderWayAtOnce() {
        CyclicBarrier all = new CyclicBarrier(3);
        Set<Integer> done = ConcurrentHashMap.newKeySet();
        SideBySide.each(List.of(1, 2, 3), one -> {
            try {
                all.await();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            done.add(one);
        }, LONG, one -> done.add(-one));
        assertEquals(Set.of(1, 2, 3), done);
    }

    @Test
    void whatTakesLongIsToldOnceAndWaitedFor() {
        CountDownLatch told = new CountDownLatch(2);
        List<Integer> slow = new ArrayList<>();
        Set<Integer> done = ConcurrentHashMap.newKeySet();
        SideBySide.each(List.of(1, 2, 3), one -> {
            if (one != 2) {
                await(told);
            }
            done.add(one);
        }, PATIENCE, one -> {
            slow.add(one);
            told.countDown();
        });
        assertEquals(Set.of(1, 2, 3), done);
        assertTrue(slow.containsAll(List.of(1, 3)), slow::toString);
        assertEquals(slow.stream().distinct().toList(), slow);
    }

    @Test
    void aFailureComesOutWhenAllHaveEndedAlsoWhereTheCallerIsInterrupted() {
        IllegalStateException first = new IllegalStateException("first");
        Set<Integer> done = ConcurrentHashMap.newKeySet();
        CountDownLatch failed = new CountDownLatch(1);
        Thread.currentThread().interrupt();
        IllegalStateException thrown = assertThrows(IllegalStateException.class,
                () -> SideBySide.each(List.of(1, 2), one -> {
                    if (one == 1) {
                        failed.countDown();
                        throw first;
                    }
                    await(failed);
                    done.add(one);
                }, LONG, one -> done.add(-one)));
        assertTrue(Thread.interrupted());
        assertSame(first, thrown);
        assertEquals(Set.of(2), done);
    }
}
