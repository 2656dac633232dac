package org.udckpt.lifecycle.checkpoint;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.udckpt.lifecycle.interval.CheckpointSchedule;
import org.udckpt.support.config.Interval;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;

/**
 * Checkpoints that a job takes by itself. Closing begins no more of them; one that is under way is not interrupted (an
 * interrupt would close the files that it writes): the closing of whoever takes them waits for it.
 */
public final class PeriodicCheckpoints implements AutoCloseable {
    private static final long BUSY_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

    private final Checkpoints checkpoints;
    private final CheckpointSchedule pace;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private boolean closed;

    private PeriodicCheckpoints(Checkpoints checkpoints, Interval interval) {
        this.checkpoints = checkpoints;
        this.pace = new CheckpointSchedule(interval, System.nanoTime(), Messages::info);
    }

    /** @param interval not Never */
    public static PeriodicCheckpoints start(Checkpoints checkpoints, Interval interval) {
        PeriodicCheckpoints periodic = new PeriodicCheckpoints(checkpoints, interval);
        checkpoints.onTaken(periodic::taken);
        Thread.ofPlatform().daemon().name("checkpoint-interval").start(periodic::run);
        return periodic;
    }

    private void taken(Taken checkpoint) {
        pace.taken(checkpoint.begin(), checkpoint.cost());
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        try {
            while (awaitDue()) {
                attempt();
            }
        } catch (InterruptedException e) {
            Messages.error("periodic checkpoints have stopped: the thread was interrupted", e);
        }
    }

    /** False: closed. */
    private boolean awaitDue() throws InterruptedException {
        lock.lock();
        try {
            for (long left = pace.due() - System.nanoTime(); !closed && left > 0;
                    left = pace.due() - System.nanoTime()) {
                changed.awaitNanos(left);
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    private void attempt() throws InterruptedException {
        if (!checkpoints.possible()) {
            pause(); // too late for a checkpoint; close comes soon
            return;
        }
        if (checkpoints.busy()) {
            pause(); // somebody's checkpoint is under way, which counts as this one
            return;
        }
        try {
            checkpoints.take(message -> {}, true);
        } catch (OutOfMemoryError e) { // the next one may have the memory
            Messages.error("a checkpoint failed for lack of memory: " + e.getMessage(), e);
            pace.failed(System.nanoTime());
        } catch (Failure e) {
            if (e.code() == ExitCode.BUSY && checkpoints.busy()) {
                return; // one that was asked for came first
            }
            if (e.code() == ExitCode.BUSY && !checkpoints.possible()) {
                Messages.debugTrace("the job's end cut off a checkpoint", e);
                return;
            }
            Messages.error(e.getMessage(), e);
            if (checkpoints.possible()) {
                pace.failed(System.nanoTime());
            }
        }
    }

    private void pause() throws InterruptedException {
        lock.lock();
        try {
            if (!closed) {
                changed.awaitNanos(BUSY_PAUSE_NS);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
