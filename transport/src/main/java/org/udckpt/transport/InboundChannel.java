package org.udckpt.transport;

import java.util.concurrent.locks.ReentrantLock;
import org.apache.arrow.flight.CallStatus;

/**
 * What one node sends of one kind, messages or tables: one shipment at a time, and each once, though a call whose
 * answer got lost is repeated. A repetition that comes while the earlier attempt is still here is sent away at once: it
 * would only take memory until that ends.
 */
final class InboundChannel {
    /** Hands a shipment to the inbox. */
    @FunctionalInterface
    interface Handing {
        void hand() throws InterruptedException;
    }

    private final ReentrantLock lock = new ReentrantLock();
    private long incarnation;
    private long last;

    /**
     * Does nothing when the shipment has been handed over before.
     *
     * @throws org.apache.arrow.flight.FlightRuntimeException UNAVAILABLE when an earlier attempt is still being
     *     received
     */
    void accept(Envelope envelope, Handing handing) throws InterruptedException {
        if (!lock.tryLock()) {
            throw CallStatus.UNAVAILABLE.withDescription("an earlier attempt of node " + envelope.from()
                    + " is still being received").toRuntimeException();
        }
        try {
            if (envelope.incarnation() != incarnation) {
                incarnation = envelope.incarnation();
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
