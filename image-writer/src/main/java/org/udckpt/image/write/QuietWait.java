package org.udckpt.image.write;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.WaitStrategy;
import java.util.concurrent.locks.LockSupport;

/**
 * Waiting that leaves the processor to the job: for producers on a monitor, and for the stage before in short sleeps,
 * since a stage does not tell when it is done. (Disruptor's blocking strategy spins there.) A slot takes a stage ten
 * times as long.
 *
 * <p>With several producers the ring's cursor says what was claimed, not what was published. A consumer that is let go
 * by it comes back at once and again, as long as a slot takes to be filled; so it is the slot itself that is waited
 * for.
 */
final class QuietWait implements WaitStrategy {
    private static final long NAP_NS = 50_000;
    private final Object published = new Object();
    private volatile RingBuffer<?> ring;

    /** Before the first wait. */
    void on(RingBuffer<?> its) {
        ring = its;
    }

    @Override
    public long waitFor(long sequence, Sequence cursor, Sequence stageBefore, SequenceBarrier barrier)
            throws AlertException, InterruptedException {
        if (!ring.isAvailable(sequence)) {
            synchronized (published) {
                while (!ring.isAvailable(sequence)) {
                    barrier.checkAlert();
                    published.wait();
                }
            }
        }
        long available;
        while ((available = stageBefore.get()) < sequence) {
            barrier.checkAlert();
            LockSupport.parkNanos(NAP_NS);
        }
        return available;
    }

    @Override
    public void signalAllWhenBlocking() {
        synchronized (published) {
            published.notifyAll();
        }
    }
}
