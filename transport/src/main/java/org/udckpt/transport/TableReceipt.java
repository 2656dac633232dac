package org.udckpt.transport;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.arrow.flight.CallStatus;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.PutResult;

/**
 * How a table's call goes on. The receiver answers each batch that it has put away, so that only a few are under way at
 * a time.
 */
final class TableReceipt implements FlightClient.PutListener {
    /** Batches under way: one is being read, one is on the wire, one waits. */
    private static final int WINDOW = 3;
    /** Between two looks at whether the connection has room. */
    private static final long LOOK_NANOS = 200_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final CompletableFuture<Void> answer = new CompletableFuture<>();
    private long taken;

    /**
     * Waits until the receiver has room for one more batch; throws when the call has failed meanwhile.
     *
     * @param sent batches so far
     * @return false: it wants no more, since it has the table from an earlier call
     */
    boolean awaitRoom(long sent) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (sent - taken >= WINDOW && !answer.isDone()) {
                changed.await();
            }
            if (answer.isDone()) {
                getResult();
                return false;
            }
            return true;
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
    void awaitAnswer() throws InterruptedException {
        try {
            answer.get();
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        }
    }

    @Override
    public void getResult() {
        try {
            answer.join();
        } catch (CompletionException e) {
            throw failure(e.getCause());
        }
    }

    private static FlightRuntimeException failure(Throwable cause) {
        return cause instanceof FlightRuntimeException failure ? failure
                : CallStatus.INTERNAL.withCause(cause).toRuntimeException();
    }

    /**
     * Flight asks this over and over while a connection has no room, without a pause and, were the answer always no,
     * also after the call has ended. The pause is here, since it would keep a processor from all others.
     */
    @Override
    public boolean isCancelled() {
        if (!answer.isDone()) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return answer.isDone() || Thread.currentThread().isInterrupted();
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
