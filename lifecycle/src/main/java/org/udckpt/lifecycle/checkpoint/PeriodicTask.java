package org.udckpt.lifecycle.checkpoint;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.udckpt.linux.ThreadEnd;

/** Runs a task periodically until it is closed; {@link #close} waits for a run in progress. */
public final class PeriodicTask implements AutoCloseable {
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread;

    private PeriodicTask(long periodMs, Runnable task) {
        thread = Thread.ofPlatform().daemon().name("ticker").start(() -> {
            try {
                while (!ended.await(periodMs, TimeUnit.MILLISECONDS)) {
                    task.run();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // nobody does; ends it
            }
        });
    }

    /** @param task does not throw */
    public static PeriodicTask start(long periodMs, Runnable task) {
        return new PeriodicTask(periodMs, task);
    }

    @Override
    public void close() {
        ended.countDown();
        ThreadEnd.await(thread);
    }
}
