package org.udckpt.job.link;

import java.util.concurrent.locks.ReentrantLock;

/** What one node sends: one shipment at a time, and each once, though a call whose answer got lost is repeated. */
final class Inlet {
    /** Hands a shipment to the inbox. */
    @FunctionalInterface
    interface Handing {
        void hand() throws InterruptedException;
    }

    private final ReentrantLock lock = new ReentrantLock();
    private long life;
    private long last;

    /** Does nothing when the shipment has been handed over before. */
    void accept(Envelope envelope, Handing handing) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            if (envelope.life() != life) {
                life = envelope.life();
                last = 0;
            }
            if (envelope.sequence() > last) {
                handing.hand();
                last = envelope.sequence();
            }
        } finally {
            lock.unlock();
        }
    }
}
