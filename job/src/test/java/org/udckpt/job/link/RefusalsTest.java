package org.udckpt.job.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RefusalsTest {
    private final List<String> lines = new ArrayList<>();
    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5); // nanoTime may overflow
    private final Refusals refusals = new Refusals(lines::add, clock::get);

    @Test
    void eachPeerIsNamedOnceAMinute() {
        InetSocketAddress one = new InetSocketAddress("127.0.0.1", 4000), other = new InetSocketAddress("127.0.0.2", 4000);
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

    @Test
    void manyPeersTakeBoundedMemoryAndLines() {
        for (int i = 0; i < 5000; i++) {
            refusals.note(new InetSocketAddress("10.0." + i / 250 + "." + i % 250, 1), "scan");
        }
        assertTrue(lines.size() <= 1025, lines.size() + " lines");
        assertEquals(5000, refusals.total());
    }
}
