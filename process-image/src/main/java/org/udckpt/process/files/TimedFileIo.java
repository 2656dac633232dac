package org.udckpt.process.files;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

/**
 * Work on files that somebody waits for: in a thread of its own, since no call on a file system that hangs (a server
 * that is gone) can be taken back. When it takes too long it is left alone, and ends by itself at the next {@link #at}.
 */
public final class TimedFileIo {
    private final Duration most;
    private final UnaryOperator<String> refusal;
    private volatile String at = "nothing yet";
    private volatile boolean over;
    private CompletableFuture<Void> work = CompletableFuture.completedFuture(null);

    /** @param refusal what to say when it takes too long, of what it was at then */
    public TimedFileIo(Duration most, UnaryOperator<String> refusal) {
        this.most = most;
        this.refusal = refusal;
    }

    /** What the work is at: told when it takes too long. */
    public void at(String path) {
        at = path;
        if (over) {
            throw new FilesRefused("stopped: the time limit for the job's files has passed");
        }
    }

    /** What the work was told to be at last. */
    public String at() {
        return at;
    }

    /** Whether the work has ended, however late. */
    public boolean ended() {
        return work.isDone();
    }

    /**
     * Returns when it is done, with all that it did.
     *
     * @throws FilesRefused it takes too long
     */
    public void with(Runnable task) {
        work = CompletableFuture.runAsync(task,
                command -> Thread.ofPlatform().daemon().name("udckpt-cut-files").start(command));
        try {
            work.get(most.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            over = true;
            throw new FilesRefused(refusal.apply(at));
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            over = true;
            Thread.currentThread().interrupt();
            throw new FilesRefused("interrupted while the job's files were opened");
        }
    }

    /** When the work has ended, which may be now. */
    void afterwards(Runnable task) {
        work.whenComplete((_, _) -> task.run());
    }
}
