package org.udckpt.process.files;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Work on files that the job stands still for: in a thread of its own, since no call on a file system that hangs (a server that is gone) can be
 * taken back. When it takes too long it is left alone, and ends by itself at the next {@link #at}.
 */
final class Patience {
    private final Duration most;
    private volatile String at = "nothing yet";
    private volatile boolean over;
    private CompletableFuture<Void> work = CompletableFuture.completedFuture(null);

    Patience(Duration most) {
        this.most = most;
    }

    /** What the work is at: told when it takes too long. */
    void at(String path) {
        at = path;
        if (over) {
            throw new FilesRefused("the job goes on without it");
        }
    }

    /**
     * Returns when it is done, with all that it did.
     *
     * @throws FilesRefused it takes too long
     */
    void with(Runnable task) {
        work = CompletableFuture.runAsync(task, command -> Thread.ofPlatform().daemon().name("udckpt-cut-files").start(command));
        try {
            work.get(most.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            over = true;
            throw new FilesRefused("getting hold of the job's files took longer than the job may stand still for it (" + most.toSeconds() + " s); it was at " + at
                    + ": the file system may hang; else name fewer with --files, or leave some out with --files-except");
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            over = true;
            Thread.currentThread().interrupt();
            throw new FilesRefused("interrupted while it got hold of the job's files");
        }
    }

    /** When the work has ended, which may be now. */
    void afterwards(Runnable task) {
        work.whenComplete((_, _) -> task.run());
    }
}
