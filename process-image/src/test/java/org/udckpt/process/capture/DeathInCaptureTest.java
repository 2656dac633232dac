package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/**
 * A process that is killed while it is captured is a reason to try again, whichever of its files in /proc tells of it.
 */
@Tag("slow")
@Timeout(240)
class DeathInCaptureTest {
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);
    private static final int KILLS = Integer.getInteger("udckpt.kills", 25);
    private static final int SIGKILL = 9;

    @ParameterizedTest
    @ValueSource(
            strings = {"threads", "forked_child", "dup_fds", "epoll", "mmap_kinds", "socketpair_data", "posix_timer"})
    void killedAtSomeInstant(String feature) throws Exception {
        Random random = new Random(SEED);
        long whole = TimeUnit.MILLISECONDS.toNanos(50);
        int failed = 0;
        for (int i = 0; i < KILLS; i++) {
            try (Target target = Target.feature(feature, Target.LIBRARY)) {
                if (i == 0) {
                    Capture.take(target.request()).close(); // the first loads our classes
                    long start = System.nanoTime();
                    Capture.take(target.request()).close();
                    whole = System.nanoTime() - start;
                }
                Killer killer = new Killer(target.pid, random.nextLong(whole));
                try (Capture capture = killer.during(target)) {
                    assertTrue(capture.snapshotPids().length > 0);
                } catch (CaptureFailed expected) {
                    failed++;
                } catch (RuntimeException e) {
                    throw new AssertionError(feature + ", seed " + SEED + ", kill " + i, e);
                } finally {
                    killer.thread.join();
                }
                awaitEnd(target);
            }
        }
        assertTrue(failed > 0, "no kill came in the middle: seed " + SEED);
    }

    /** A tracer that kept one of its threads would keep the process too. */
    private static void awaitEnd(Target target) throws InterruptedException {
        for (int round = 0; round < 1000 && target.alive(); round++) {
            Thread.sleep(5);
        }
        assertFalse(target.alive(), () -> "process " + target.pid + " was killed and stays, seed " + SEED);
    }

    /** Kills a process some time after the capture has begun. */
    private static final class Killer {
        final Thread thread;
        private final CountDownLatch begun = new CountDownLatch(1);

        Killer(int pid, long delayNs) {
            thread = Thread.ofPlatform().start(() -> {
                try {
                    begun.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                for (long end = System.nanoTime() + delayNs; System.nanoTime() < end;) {
                    Thread.onSpinWait(); // a sleep would be longer than many captures
                }
                LinuxError.check(Syscall.call(Syscall.KILL, pid, SIGKILL), "kill");
            });
        }

        Capture during(Target target) {
            begun.countDown();
            return Capture.take(target.request());
        }
    }
}
