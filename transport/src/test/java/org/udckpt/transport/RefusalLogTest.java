package org.udckpt.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RefusalLogTest {
    private final List<String> lines = new ArrayList<>();
    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5); // nanoTime may overflow
    private final RefusalLog refusals = new RefusalLog(lines::add, clock::get);

    @Test
    void eachPeerIsNamedOnceAMinute() {
        InetSocketAddress one = new InetSocketAddress("127.0.0.1", 4000),
                other = new InetSocketAddress("127.0.0.2", 4000);
        for (int i = 0; i < 100; i++) {
            refusals.note(one, "no token");
        }
        refusals.note(other, "no token");
        assertEquals(List.of("refused 127.0.0.1: no token", "refused 127.0.0.2: no token"), lines);
        clock.addAndGet(TimeUnit.SECONDS.toNanos(61));
        refusals.note(new InetSocketAddress("127.0.0.1", 4001), "no certificate");
        assertEquals(3, lines.size());
        assertTrue(lines.getLast().contains("no certificate, and 99 times before"), lines.getLast());
        assertEquals(102, refusals.total());
    }

    /** A node of the job whose end comes before the word of it is no stranger. */
    @Test
    void whatMayBeTheJobsEndIsSaidLater() {
        InetSocketAddress one = new InetSocketAddress("127.0.0.1", 4000);
        try (ScheduledThreadPoolExecutor later = new ScheduledThreadPoolExecutor(1)) {
            later.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
            refusals.noteSoon(one, "no proof", later);
            assertEquals(List.of(), lines);
            assertEquals(1, refusals.total());
            later.getQueue().forEach(Runnable::run);
            assertEquals(List.of("refused 127.0.0.1: no proof"), lines);
            refusals.noteSoon(new InetSocketAddress("127.0.0.2", 4000), "no proof", later);
            refusals.quiet();
            later.getQueue().forEach(Runnable::run);
            assertEquals(1, lines.size());
        }
    }

    @Test
    void manyPeersTakeBoundedMemoryAndLines() {
        for (int i = 0; i < 5000; i++) {
            refusals.note(new InetSocketAddress("10.0." + i / 250 + "." + i % 250, 1), "scan");
        }
        assertTrue(lines.size() <= 1025, lines.size() + " lines");
        assertEquals(5000, refusals.total());
    }
}
