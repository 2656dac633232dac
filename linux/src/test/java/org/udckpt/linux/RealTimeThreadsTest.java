package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads before all others, for a while. */
@Timeout(60)
class RealTimeThreadsTest {
    private static final long OTHER = 0, FIFO = 1, NICE = 5;

    private static long policy(long thread) {
        return Syscall.call(Syscall.SCHED_GETSCHEDULER, thread) & ~0x40000000L;
    }

    private static long own() {
        return policy(0);
    }

    /** Names of this process's threads of another policy, without the JVM's compilers. */
    private static List<String> others(long policy) {
        return Arrays.stream(Proc.threads((int) ProcessHandle.current().pid()))
                .filter(thread -> policy(thread) != policy)
                .mapToObj(thread -> Proc.text("/proc/self/task/" + thread + "/comm").strip())
                .filter(name -> !name.contains("Compiler")).toList();
    }

    /** For the kernel, which is a moment behind for the JVM. */
    private static void awaitEnd(long thread) throws InterruptedException {
        while (Files.exists(Path.of("/proc/self/task/" + thread))) {
            Thread.sleep(1);
        }
    }

    @Test
    void allButThoseThatAreNiceUntilItIsClosed() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        long[] nice = new long[1];
        long[] joined = new long[1];
        Thread background = Thread.ofPlatform().start(() -> {
            Syscall.call(Syscall.SETPRIORITY, 0, 0, NICE);
            nice[0] = Syscall.call(Syscall.GETTID);
            started.countDown();
            try {
                over.await();
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        });
        started.await();
        try (RealTimeThreads threads = RealTimeThreads.begin()) {
            assumeTrue(own() == FIFO, "this process may not have real-time threads");
            assertEquals(OTHER, policy(nice[0]));
            assertThrows(IllegalStateException.class, RealTimeThreads::begin);
            FutureTask<long[]> other = new FutureTask<>(() -> {
                long before = own();
                joined[0] = Syscall.call(Syscall.GETTID);
                RealTimeThreads.join();
                return new long[]{before, own()};
            });
            Thread.ofPlatform().start(other);
            assertEquals(OTHER, other.get()[0], "what they start is ordinary");
            assertEquals(FIFO, other.get()[1]);
            Process child = new ProcessBuilder("chrt", "-p", "0").redirectErrorStream(true).start();
            String said = new String(child.getInputStream().readAllBytes());
            assertEquals(0, child.waitFor(), said);
            assertEquals(true, said.contains("SCHED_OTHER"), said);
            threads.close();
            assertEquals(OTHER, own());
        } finally {
            over.countDown();
            background.join();
        }
        awaitEnd(nice[0]);
        awaitEnd(joined[0]);
        RealTimeThreads.join();
        assertEquals(OTHER, own(), "nothing to join");
        try (RealTimeThreads again = RealTimeThreads.begin()) {
            assertEquals(FIFO, own());
            assertEquals(List.of(), others(FIFO), "all of this process but compilers");
        }
        assertEquals(OTHER, own());
        assertEquals(List.of(), others(OTHER));
    }
}
