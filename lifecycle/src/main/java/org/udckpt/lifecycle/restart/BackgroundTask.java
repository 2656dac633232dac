package org.udckpt.lifecycle.restart;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Work in a thread of its own: in the tenths of a second that a restart takes the time goes into loading code, and into
 * waiting for the shepherd.
 */
final class BackgroundTask {
    private BackgroundTask() {}

    static <T> CompletableFuture<T> begin(Callable<T> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().name("restart-beside").start(() -> {
            try {
                result.complete(task.call());
            } catch (Throwable failure) {
                result.completeExceptionally(failure);
            }
        });
        return result;
    }

    /** What it ended with, which is unchecked or an IOException. */
    static <T> T join(CompletableFuture<T> task) throws IOException {
        try {
            return task.join();
        } catch (CompletionException e) {
            switch (e.getCause()) {
                case IOException cause -> throw cause;
                case RuntimeException cause -> throw cause;
                case Error cause -> throw cause;
                case null, default -> throw e;
            }
        }
    }
}
