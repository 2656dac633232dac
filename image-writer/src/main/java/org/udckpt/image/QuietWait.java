package org.udckpt.image;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.WaitStrategy;
import java.util.concurrent.locks.LockSupport;

/**
 * Waiting that leaves the processor to the job: for producers on a monitor, and for the stage before in short sleeps, since a
 * stage does not tell when it is done. (Disruptor's blocking strategy spins there.) A slot takes a stage ten times as long.
 */
final class QuietWait implements WaitStrategy {
    private static final long NAP_NS = 50_000;
    private final Object published = new Object();

    @Override
    public long waitFor(long sequence, Sequence cursor, Sequence stageBefore, SequenceBarrier barrier)
            throws AlertException, InterruptedException {
        if (cursor.get() < sequence) {
            synchronized (published) {
                while (cursor.get() < sequence) {
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
