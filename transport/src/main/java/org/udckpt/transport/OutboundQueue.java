package org.udckpt.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.udckpt.coordination.tree.TreeTransport;

/**
 * What waits in one channel, bounded in bytes. Tables wait for room. Messages do not: their sender must go on serving
 * other nodes, so that the oldest ones make room, as if they had been lost on the way; the newest say what is true now.
 */
final class OutboundQueue {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<OutboundItem> waiting = new ArrayDeque<>();
    private final long limit;
    private long bytes;
    private long underWay;
    private long lost;
    private boolean closed;
    private boolean woken;
    private boolean nobodyThere;

    OutboundQueue(long limit) {
        this.limit = limit;
    }

    /** False: closed. */
    boolean offer(OutboundItem.Message message) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            Iterator<OutboundItem> oldest = waiting.iterator();
            while (bytes + message.bytes() > limit && oldest.hasNext()) {
                if (oldest.next() instanceof OutboundItem.Message old) {
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
    boolean put(OutboundItem.Table table) throws InterruptedException {
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

    private void add(OutboundItem item) {
        waiting.add(item);
        bytes += item.bytes();
        changed.signalAll();
    }

    /** Ends {@link #awaitItem} without one, this time or the next, unless a item comes before. */
    void wake() {
        lock.lock();
        try {
            woken = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for a item, or the end. False: neither came in this time, and the last shipment is not under way any more.
     */
    boolean awaitItem(long nanos) throws InterruptedException {
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
    List<OutboundItem> take() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            underWay = 0;
            changed.signalAll();
            while (waiting.isEmpty() && !closed) {
                changed.await();
            }
            woken = false;
            List<OutboundItem> shipment = new ArrayList<>();
            long size = Envelope.HEADER_BYTES;
            while (!closed && fits(waiting.peek(), shipment, size)) {
                OutboundItem item = waiting.remove();
                shipment.add(item);
                size += item.bytes();
                bytes -= item.bytes();
            }
            underWay = shipment.size();
            changed.signalAll();
            return shipment;
        } finally {
            lock.unlock();
        }
    }

    private static boolean fits(OutboundItem next, List<OutboundItem> shipment, long size) {
        return switch (next) {
            case null -> false;
            case OutboundItem.Table table -> shipment.isEmpty();
            case OutboundItem.Message message -> shipment.isEmpty()
                    || shipment.getFirst() instanceof OutboundItem.Message
                            && size + message.bytes() <= TreeTransport.MAX_MESSAGE_BYTES;
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
    List<OutboundItem> close() {
        lock.lock();
        try {
            closed = true;
            List<OutboundItem> left = List.copyOf(waiting);
            waiting.clear();
            bytes = 0;
            changed.signalAll();
            return left;
        } finally {
            lock.unlock();
        }
    }
}
