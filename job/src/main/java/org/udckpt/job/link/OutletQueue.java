package org.udckpt.job.link;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.udckpt.job.tree.Links;

/**
 * What waits in one outlet, bounded in bytes. Tables wait for room. Messages do not: their sender must go on serving other nodes, so
 * that the oldest ones make room, as if they had been lost on the way; the newest say what is true now.
 */
final class OutletQueue {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<Parcel> waiting = new ArrayDeque<>();
    private final long limit;
    private long bytes;
    private long underWay;
    private long lost;
    private boolean closed;
    private boolean woken;
    private boolean nobodyThere;

    OutletQueue(long limit) {
        this.limit = limit;
    }

    /** False: closed. */
    boolean offer(Parcel.Message message) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            Iterator<Parcel> oldest = waiting.iterator();
            while (bytes + message.bytes() > limit && oldest.hasNext()) {
                if (oldest.next() instanceof Parcel.Message old) {
                    oldest.remove();
                    bytes -= old.bytes();
                    lost++;
                }
            }
            add(message);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until there is room; a table larger than the queue waits until it is empty. False: closed. */
    boolean put(Parcel.Table table) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!closed && bytes > 0 && bytes + table.bytes() > limit) {
                changed.await();
            }
            if (!closed) {
                add(table);
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    private void add(Parcel parcel) {
        waiting.add(parcel);
        bytes += parcel.bytes();
        changed.signalAll();
    }

    /** Ends {@link #awaitParcel} without one, this time or the next, unless a parcel comes before. */
    void wake() {
        lock.lock();
        try {
            woken = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a parcel, or the end. False: neither came in this time, and the last shipment is not under way any more. */
    boolean awaitParcel(long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            underWay = 0;
            changed.signalAll();
            long left = nanos;
            while (waiting.isEmpty() && !closed) {
                if (left <= 0 || woken) {
                    return false;
                }
                left = changed.awaitNanos(left);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The next shipment: one table, or the messages that wait, as many as are allowed in one. Waits for the first.
     *
     * @return empty: closed
     */
    List<Parcel> take() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            underWay = 0;
            changed.signalAll();
            while (waiting.isEmpty() && !closed) {
                changed.await();
            }
            woken = false;
            List<Parcel> shipment = new ArrayList<>();
            long size = Envelope.HEADER_BYTES;
            while (!closed && fits(waiting.peek(), shipment, size)) {
                Parcel parcel = waiting.remove();
                shipment.add(parcel);
                size += parcel.bytes();
                bytes -= parcel.bytes();
            }
            underWay = shipment.size();
            changed.signalAll();
            return shipment;
        } finally {
            lock.unlock();
        }
    }

    private static boolean fits(Parcel next, List<Parcel> shipment, long size) {
        return switch (next) {
            case null -> false;
            case Parcel.Table table -> shipment.isEmpty();
            case Parcel.Message message -> shipment.isEmpty()
                    || shipment.getFirst() instanceof Parcel.Message && size + message.bytes() <= Links.MAX_MESSAGE_BYTES;
        };
    }

    /** Whether the last try found that nobody listens at the node's address. */
    void nobodyThere(boolean nobody) {
        lock.lock();
        try {
            nobodyThere = nobody;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until nothing waits and nothing is under way. False: not until then, or nobody is there to take it. */
    boolean awaitEmpty(long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = nanos;
            while (!closed && (!waiting.isEmpty() || underWay > 0)) {
                if (left <= 0 || nobodyThere) {
                    return false;
                }
                left = changed.awaitNanos(left);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Messages that made room since the last call. */
    long takeLost() {
        lock.lock();
        try {
            long since = lost;
            lost = 0;
            return since;
        } finally {
            lock.unlock();
        }
    }

    boolean isEmpty() {
        lock.lock();
        try {
            return waiting.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** What still waits. */
    List<Parcel> close() {
        lock.lock();
        try {
            closed = true;
            List<Parcel> left = List.copyOf(waiting);
            waiting.clear();
            bytes = 0;
            changed.signalAll();
            return left;
        } finally {
            lock.unlock();
        }
    }
}
