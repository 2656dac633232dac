package org.udckpt.job.link;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many connections an endpoint has to others at once: a lead tells each of tens of thousands of nodes a word. An outlet waits for a place, those that have nothing to send
 * give theirs, who has rested for the longest first.
 */
final class Places {
    private final int most;
    private final Semaphore free;
    private final AtomicInteger waiting = new AtomicInteger();
    private final Set<Outlet> resting = new LinkedHashSet<>();

    Places(int most) {
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
            Outlet idle = longestResting();
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
    synchronized boolean rest(Outlet outlet) {
        return waiting.get() == 0 && resting.add(outlet);
    }

    synchronized void resume(Outlet outlet) {
        resting.remove(outlet);
    }

    private synchronized Outlet longestResting() {
        Iterator<Outlet> oldest = resting.iterator();
        if (!oldest.hasNext()) {
            return null;
        }
        Outlet outlet = oldest.next();
        oldest.remove();
        return outlet;
    }

    int taken() {
        return most - free.availablePermits();
    }
}
