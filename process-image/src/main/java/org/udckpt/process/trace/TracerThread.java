package org.udckpt.process.trace;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import org.udckpt.linux.RealTimeThreads;
import org.udckpt.linux.ThreadEnd;

/**
 * The platform thread that makes all ptrace calls for a set of tracees: a tracee belongs to the OS thread that seized
 * it. When this thread ends, the kernel lets all its tracees go.
 */
public final class TracerThread implements AutoCloseable {
    private final LinkedBlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
    private final Thread thread;
    private volatile boolean closed;

    public TracerThread(String name) {
        thread = Thread.ofPlatform().name(name).daemon(true).start(this::run);
    }

    private void run() {
        RealTimeThreads.join();
        while (!ended()) {
            try {
                work.take().run();
            } catch (InterruptedException asked) {
                return;
            }
        }
    }

    /**
     * Nothing comes any more, and nothing is left: under one lock with {@link #enqueue}, so that no task is forgotten.
     */
    private boolean ended() {
        synchronized (work) {
            return closed && work.isEmpty();
        }
    }

    private void enqueue(Runnable task) {
        synchronized (work) {
            if (closed) {
                throw new IllegalStateException(thread.getName() + " is closed");
            }
            work.add(task);
        }
    }

    /** Runs {@code task} on the tracer thread, after all earlier ones. */
    public <T> CompletableFuture<T> submit(Callable<T> task) {
        CompletableFuture<T> future = new CompletableFuture<>();
        enqueue(() -> {
            try {
                future.complete(task.call());
            } catch (Throwable failure) {
                future.completeExceptionally(failure);
            }
        });
        return future;
    }

    /** Runs {@code task} on the tracer thread and waits; its unchecked exception comes through as it is. */
    public <T> T call(Callable<T> task) {
        if (Thread.currentThread() == thread) {
            try {
                return task.call();
            } catch (RuntimeException | Error failure) {
                throw failure;
            } catch (Exception failure) {
                throw new CompletionException(failure);
            }
        }
        return join(submit(task));
    }

    public static <T> T join(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException wrapped) {
            switch (wrapped.getCause()) {
                case RuntimeException failure -> throw failure;
                case Error failure -> throw failure;
                case null, default -> throw wrapped;
            }
        }
    }

    /** Finishes the queued work, then ends the thread and with it every trace. */
    @Override
    public void close() {
        synchronized (work) {
            if (!closed) {
                closed = true;
                work.add(() -> {}); // wakes the thread
            }
        }
        if (Thread.currentThread() != thread) {
            ThreadEnd.await(thread);
        }
    }
}
