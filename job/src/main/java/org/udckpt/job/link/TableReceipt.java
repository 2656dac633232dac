package org.udckpt.job.link;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.arrow.flight.CallStatus;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.PutResult;

/** How a table's call goes on. The receiver answers each batch that it has put away, so that only a few are under way at a time. */
final class TableReceipt implements FlightClient.PutListener {
    /** Batches under way: one is being read, one is on the wire, one waits. */
    private static final int WINDOW = 3;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final CompletableFuture<Void> answer = new CompletableFuture<>();
    private long taken;

    /** Returns when the receiver has room for one more batch; throws when the call has ended meanwhile. @param sent batches so far */
    void awaitRoom(long sent) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (sent - taken >= WINDOW) {
                if (answer.isDone()) {
                    getResult();
                    throw CallStatus.INTERNAL.withDescription("the receiver answered before it had the whole table").toRuntimeException();
                }
                changed.await();
            }
        } finally {
            lock.unlock();
        }
    }

    private void signal() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the answer. The call's own time limit bounds it. */
    @Override
    public void getResult() {
        try {
            answer.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof FlightRuntimeException failure ? failure : CallStatus.INTERNAL.withCause(e.getCause()).toRuntimeException();
        }
    }

    @Override
    public void onNext(PutResult batch) {
        lock.lock();
        try {
            taken++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onError(Throwable failure) {
        answer.completeExceptionally(failure);
        signal();
    }

    @Override
    public void onCompleted() {
        answer.complete(null);
        signal();
    }
}
