package org.udckpt.transport;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Messages of all nodes in the order in which they came, for one thread to take. Bounded in bytes: who brings more
 * waits, and with him the node that sent it.
 */
public final class Mailbox {
    /** @param from number of the node that sent it */
    public record Letter(int from, byte[] message) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<Letter> letters = new ArrayDeque<>();
    private final long limit;
    private long bytes;
    private boolean woken;

    public Mailbox(long limitBytes) {
        limit = limitBytes;
    }

    public void put(int from, byte[] message) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (bytes > 0 && bytes + message.length > limit) {
                changed.await();
            }
            letters.add(new Letter(from, message));
            bytes += message.length;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends {@link #poll} without a letter, this time or the next: its thread has something else to do. */
    public void wake() {
        lock.lock();
        try {
            woken = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Null: none came in that time, or {@link #wake}. */
    public Letter poll(long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = nanos;
            while (letters.isEmpty() && !woken && left > 0) {
                left = changed.awaitNanos(left);
            }
            woken = false;
            if (letters.isEmpty()) {
                return null;
            }
            Letter letter = letters.remove();
            bytes -= letter.message().length;
            changed.signalAll();
            return letter;
        } finally {
            lock.unlock();
        }
    }
}
