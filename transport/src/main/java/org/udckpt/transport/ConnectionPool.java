package org.udckpt.transport;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many connections an endpoint has to others at once: a lead tells each of tens of thousands of nodes a word. An
 * channel waits for a place, those that have nothing to send give theirs, who has rested for the longest first.
 */
final class ConnectionPool {
    private final int most;
    private final Semaphore free;
    private final AtomicInteger waiting = new AtomicInteger();
    private final Set<OutboundChannel> resting = new LinkedHashSet<>();

    ConnectionPool(int most) {
        this.most = most;
        this.free = new Semaphore(most, true);
    }

    /** Waits until there is one. */
    void take() throws InterruptedException {
        if (free.tryAcquire()) {
            return;
        }
        waiting.incrementAndGet(); // before it looks who rests: who begins to rest later sees it
        try {
            OutboundChannel idle = longestResting();
            if (idle != null) {
                idle.makeRoom();
            }
            free.acquire();
        } finally {
            waiting.decrementAndGet();
        }
    }

    void give() {
        free.release();
    }

    /** What has nothing to send keeps its connection for now. False: others wait for its place. */
    synchronized boolean rest(OutboundChannel outbound) {
        return waiting.get() == 0 && resting.add(outbound);
    }

    synchronized void resume(OutboundChannel outbound) {
        resting.remove(outbound);
    }

    private synchronized OutboundChannel longestResting() {
        Iterator<OutboundChannel> oldest = resting.iterator();
        if (!oldest.hasNext()) {
            return null;
        }
        OutboundChannel outbound = oldest.next();
        oldest.remove();
        return outbound;
    }

    int taken() {
        return most - free.availablePermits();
    }
}
